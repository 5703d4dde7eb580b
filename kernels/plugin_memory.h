#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/plugin_inputs.h"

namespace headsplit::kernels {

/// What a plug-in's output rows are made of.
enum class OutputType { f32, bf16 };

/// Where a plug-in finds its inputs and leaves its outputs: addresses in its backend's memory.
struct PluginPointers {
  const std::uint16_t* query = nullptr;
  const void* cache = nullptr;
  const std::int32_t* page_table = nullptr;
  const std::int32_t* lengths = nullptr;
  void* output = nullptr;
  float* lse = nullptr;
};

/// Inputs and outputs of a bound plug-in.  The plug-in is given addresses; headsplit keeps the
/// memory, poisons it and reads it back.
class PluginMemory {
 public:
  virtual ~PluginMemory() = default;
  virtual PluginPointers pointers() const = 0;
  /// Every output byte becomes all ones: NaN as fp32 and as bf16.
  virtual Result<void> poison() = 0;
  /// Bytes of `output` and of `lse`, after what was launched before is done.
  virtual Result<void> read_output(std::int64_t offset_bytes, std::span<std::byte> bytes) = 0;
  virtual Result<void> read_lse(std::int64_t first, std::span<float> values) = 0;
};

std::int64_t output_value_bytes(OutputType type);

/// Fails: config (not enough memory).
Result<std::unique_ptr<PluginMemory>> make_host_memory(const Problem& problem, OutputType type,
                                                       int threads);

/// On the current device.  Fails: cuda (out of memory), config (this build has no CUDA).
Result<std::unique_ptr<PluginMemory>> make_device_memory(const Problem& problem, OutputType type,
                                                         void* stream);

/// Output rows as fp32.  rows: 0..problem.rows() - 1.  Fails: config (a row out of range), cuda.
Result<std::vector<OutputRow>> read_rows(PluginMemory& memory, const Problem& problem,
                                         OutputType type, std::span<const std::int64_t> rows);

}  // namespace headsplit::kernels

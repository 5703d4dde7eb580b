#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// Where a kernel runs.
enum class Backend { cpu, cuda };
BOOST_DESCRIBE_ENUM(Backend, cpu, cuda)

/// How a kernel will run a problem: chosen before the launch, printable, with the reason.
struct Config {
  int tile_rows = 0;    ///< packed query rows (heads x query tokens) of one tile
  int tile_tokens = 0;  ///< KV tokens of one step
  int num_splits = 1;   ///< most parts that one request's context is cut into
  int padded_rows = 0;  ///< packed rows computed for nothing, a request
  int workers = 0;      ///< CTAs or threads launched
  std::string reason;   ///< why these tiles and splits

  bool operator==(const Config&) const = default;
};
BOOST_DESCRIBE_STRUCT(Config, (),
                      (tile_rows, tile_tokens, num_splits, padded_rows, workers, reason))

/// What a kernel of attention multiplies: values as they are stored or wider, and queries and
/// softmax weights in 16 bits or more; or queries and weights rounded to e4m3.
enum class Arithmetic { stored, e4m3 };

/// Parts of a launch that can be timed apart.
enum class Part { all, split, combine };

/// One output row: (request, query token, head) in row-major order.
struct OutputRow {
  std::vector<float> values;  ///< [shape.output_width()]
  float lse = 0;              ///< natural logarithm of the sum of exponentials; kv_expand: 0
};

/// What a launch writes, where the kernel's device has it.
struct OutputView {
  const float* values = nullptr;               ///< [rows, output_width] fp32; or null, and
  const std::uint16_t* values_bf16 = nullptr;  ///< the same in bf16
  const float* lse = nullptr;                  ///< [rows], natural logarithm
};

/// K and V of each head in device memory, by pages: keys [page_count, kv_heads, page_tokens, d_k],
/// values [.., d_v], bf16.
struct ExpandedCache {
  const std::uint16_t* keys = nullptr;
  const std::uint16_t* values = nullptr;
};

/// Index lists in device memory, as mla_sparse reads them (Problem::indices, top_k_lengths).
struct TokenLists {
  const std::int32_t* slots = nullptr;    ///< [batch, query_tokens, top_k]
  const std::int32_t* lengths = nullptr;  ///< [batch, query_tokens]
};

/// A kernel bound to one problem: random inputs made, outputs and workspaces allocated.
/// Not thread-safe.  CUDA kernels enqueue on the stream they were bound to and do not wait.
class BoundKernel {
 public:
  virtual ~BoundKernel() = default;

  virtual const Config& config() const = 0;
  /// What its outputs are judged by (verify.h).
  virtual Arithmetic arithmetic() const { return Arithmetic::stored; }
  /// Fill outputs and workspaces with NaN, so that what a launch leaves out cannot pass as right.
  virtual Result<void> poison() = 0;
  /// One whole launch, or one part of it.  A part that this kernel does not have does nothing.
  virtual Result<void> launch(Part part) = 0;
  /// The given output rows after the last launch (waits for it).  row: 0..problem.rows() - 1.
  virtual Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) = 0;
  /// The whole output in place, for ranks that merge theirs.  Nothing: this kernel has none to
  /// show.
  virtual std::optional<OutputView> output() const { return std::nullopt; }
  /// K and V that a launch writes, for an attention that follows; nothing: it writes none.
  virtual std::optional<ExpandedCache> expanded() const { return std::nullopt; }
  /// Lists that a launch writes, for a sparse attention that follows; nothing: it writes none.
  virtual std::optional<TokenLists> lists() const { return std::nullopt; }
};

class DevicePool;

/// What a kernel is bound with.
struct BindOptions {
  int threads = 0;             ///< CPU: worker threads, 0 = all cores of this process
  void* stream = nullptr;      ///< CUDA: a cudaStream_t
  DevicePool* pool = nullptr;  ///< CUDA: memory to be used again (device/pool.h); null = none
  /// CUDA, per_head: attend to this, of a problem with the same pages, and not to random K and V.
  std::optional<ExpandedCache> expanded;
  /// CUDA, mla_sparse: attend to these, of a problem with the same pages, lengths and top_k, and
  /// not to the problem's own.
  std::optional<TokenLists> lists;
  int num_splits = 0;  ///< 0 = chosen by the kernel; tests and batch-invariant runs fix it
};

/// One kernel of the suite on one backend: a row of the registry's table.
struct KernelEntry {
  std::string name;
  Backend backend = Backend::cpu;
  std::string summary;
  /// Fails: config, with the reason why this kernel cannot run such a problem.
  std::function<Result<void>(const RankProblem& shape)> supports;
  std::function<Result<std::unique_ptr<BoundKernel>>(const Problem&, const BindOptions&)> bind;
};

/// What `supports` asks first.  Fails: config, when the problem is of another family.
Result<void> check_family(const std::string& kernel, Family wanted, const RankProblem& shape);

/// All kernels of this build.
std::span<const KernelEntry> registry();

/// The kernel of that name on that backend: one of the registry, or "plugin:FILE" (plugin.h). Valid
/// until the process ends.  Fails: config (lists the names there are).
Result<const KernelEntry*> find_kernel(const std::string& name, Backend backend);

}  // namespace headsplit::kernels

#include <cuda_runtime_api.h>

#include "kernels/device/cuda_try.h"
#include "kernels/device/host_copy.h"
#include "kernels/plugin_memory.h"

namespace headsplit::kernels {
namespace {

constexpr int kPoisonByte = 0xFF;

/// Plain device memory, freed with its owner.
struct Block {
  struct Free {
    void operator()(void* memory) const { CUDA_LOG(cudaFree(memory)); }
  };
  std::unique_ptr<void, Free> memory;
  std::size_t bytes = 0;
};

Result<Block> allocated(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes > 0) CUDA_TRY(cudaMalloc(&memory, bytes));
  return Block{std::unique_ptr<void, Block::Free>(memory), bytes};
}

Result<Block> copied(const void* host, std::size_t bytes) {
  Block block = TRY(allocated(bytes));
  TRY(copy_from_host(block.memory.get(), host, bytes));
  return block;
}

class DeviceMemory final : public PluginMemory {
 public:
  explicit DeviceMemory(cudaStream_t stream) : stream_(stream) {}

  Result<void> fill(const Problem& problem, OutputType type) {
    const auto rows = static_cast<std::size_t>(problem.rows());
    const auto width = static_cast<std::size_t>(problem.shape.d_latent);
    ThreadPool pool(available_threads());
    const HostInputs inputs = make_host_inputs(problem, pool);
    query_ = TRY(copied(inputs.query.get(), static_cast<std::size_t>(inputs.query_bytes)));
    cache_ = TRY(copied(inputs.cache.get(), static_cast<std::size_t>(inputs.cache_bytes)));
    page_table_ =
        TRY(copied(problem.page_table.data(), problem.page_table.size() * sizeof(std::int32_t)));
    lengths_ = TRY(copied(problem.lengths.data(), problem.lengths.size() * sizeof(std::int32_t)));
    output_ = TRY(allocated(rows * width * static_cast<std::size_t>(output_value_bytes(type))));
    lse_ = TRY(allocated(rows * sizeof(float)));
    return {};
  }

  PluginPointers pointers() const override {
    return {static_cast<const std::uint16_t*>(query_.memory.get()),
            cache_.memory.get(),
            static_cast<const std::int32_t*>(page_table_.memory.get()),
            static_cast<const std::int32_t*>(lengths_.memory.get()),
            output_.memory.get(),
            static_cast<float*>(lse_.memory.get())};
  }
  Result<void> poison() override {
    for (const Block* block : {&output_, &lse_}) {
      CUDA_TRY(cudaMemsetAsync(block->memory.get(), kPoisonByte, block->bytes, stream_));
    }
    return {};
  }
  Result<void> read_output(std::int64_t offset_bytes, std::span<std::byte> bytes) override {
    return read(output_, offset_bytes, bytes.data(), bytes.size());
  }
  Result<void> read_lse(std::int64_t first, std::span<float> values) override {
    return read(lse_, first * std::int64_t{sizeof(float)}, values.data(), values.size_bytes());
  }

 private:
  Result<void> read(const Block& from, std::int64_t offset_bytes, void* to, std::size_t bytes) {
    CUDA_TRY(cudaStreamSynchronize(stream_));
    CUDA_TRY(cudaMemcpy(to, static_cast<const char*>(from.memory.get()) + offset_bytes, bytes,
                        cudaMemcpyDeviceToHost));
    return {};
  }

  cudaStream_t stream_ = nullptr;
  Block query_, cache_, page_table_, lengths_, output_, lse_;
};

}  // namespace

Result<std::unique_ptr<PluginMemory>> make_device_memory(const Problem& problem, OutputType type,
                                                         void* stream) {
  auto memory = std::make_unique<DeviceMemory>(static_cast<cudaStream_t>(stream));
  TRY(memory->fill(problem, type));
  return memory;
}

}  // namespace headsplit::kernels

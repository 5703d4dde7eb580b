#include "agent/cublaslt.h"

#include "agent/ceiling_kernels.h"
#include "agent/device_memory.h"
#include "kernels/device/lt_matmul.h"

namespace headsplit::agent {

struct LtMatmul::State {
  kernels::LtMatmul matmul;
  DeviceMemory a, b, d, workspace;

  Result<void> allocate(MatmulType type, int size);
};

Result<void> LtMatmul::State::allocate(MatmulType type, int size) {
  const std::size_t count = static_cast<std::size_t>(size) * size;
  const std::size_t value_bytes = type == MatmulType::fp8 ? 1 : 2;
  a = TRY(device_memory(count * value_bytes));
  b = TRY(device_memory(count * value_bytes));
  d = TRY(device_memory(count * 2));
  workspace = TRY(device_memory(kernels::LtMatmul::kWorkspaceBytes));
  const auto fill = type == MatmulType::fp8 ? launch_fill_e4m3 : launch_fill_bf16;
  fill(a.get(), count, 1, nullptr);
  fill(b.get(), count, 2, nullptr);
  CUDA_TRY(cudaGetLastError());
  CUDA_TRY(cudaDeviceSynchronize());
  return {};
}

Result<LtMatmul> LtMatmul::open(MatmulType type, int size) {
  const bool eight_bits = type == MatmulType::fp8;
  const kernels::LtShape shape{.factors = eight_bits ? CUDA_R_8F_E4M3 : CUDA_R_16BF,
                               .fast_sums = eight_bits,
                               .rows = size,
                               .columns = size,
                               .depth = size,
                               .a_stride = size,
                               .b_stride = size,
                               .d_stride = size};
  auto library = TRY(kernels::open_cublaslt());
  auto matmul = TRY(kernels::LtMatmul::make(std::move(library), shape));
  auto state = std::make_shared<State>(State{std::move(matmul), {}, {}, {}, {}});
  TRY(state->allocate(type, size));
  return LtMatmul(size, std::move(state));
}

Result<void> LtMatmul::launch(cudaStream_t stream) {
  const State& s = *state_;
  return s.matmul.launch(
      {.a = s.a.get(), .b = s.b.get(), .d = s.d.get(), .workspace = s.workspace.get()}, stream);
}

}  // namespace headsplit::agent

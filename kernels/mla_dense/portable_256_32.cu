#include "kernels/mla_dense/portable_split.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense {

// Small latents.
namespace width_256_32 {

struct Rows16Tokens64 {
  static constexpr TileShape kShape{
      .d_latent = 256, .d_rope = 32, .groups = 1, .blocks = 1, .tokens = 64, .producer_warps = 4};
};
struct Rows64Tokens64 {
  static constexpr TileShape kShape{
      .d_latent = 256, .d_rope = 32, .groups = 2, .blocks = 2, .tokens = 64, .producer_warps = 0};
};

constexpr SplitKernel kKernels[] = {split_kernel_of<Rows16Tokens64>(),
                                    split_kernel_of<Rows64Tokens64>()};

}  // namespace width_256_32

std::span<const SplitKernel> split_kernels_256_32() { return width_256_32::kKernels; }

}  // namespace headsplit::kernels::dense

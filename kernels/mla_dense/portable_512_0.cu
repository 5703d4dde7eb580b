#include "kernels/mla_dense/portable_split.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense {

// Latents without a RoPE key beside them.
namespace width_512_0 {

struct Rows16Tokens32 {
  static constexpr TileShape kShape{
      .d_latent = 512, .d_rope = 0, .groups = 1, .blocks = 1, .tokens = 32, .producer_warps = 4};
};
struct Rows64Tokens32 {
  static constexpr TileShape kShape{
      .d_latent = 512, .d_rope = 0, .groups = 2, .blocks = 2, .tokens = 32, .producer_warps = 0};
};

constexpr SplitKernel kKernels[] = {split_kernel_of<Rows16Tokens32>(),
                                    split_kernel_of<Rows64Tokens32>()};

}  // namespace width_512_0

std::span<const SplitKernel> split_kernels_512_0() { return width_512_0::kKernels; }

}  // namespace headsplit::kernels::dense

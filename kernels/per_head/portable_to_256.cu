#include "kernels/per_head/portable_split.cuh"

namespace headsplit::kernels::per_head {

namespace to_256 {

// Expanded MLA of DeepSeek-V3.
struct Widths192 {
  static constexpr TileShape kShape{.d_k = 192, .d_v = 128};
};
struct Widths192Rows32 {
  static constexpr TileShape kShape{.d_k = 192, .d_v = 128, .blocks = 2};
};
struct Widths256 {
  static constexpr TileShape kShape{.d_k = 256, .d_v = 256, .ctas_per_sm = 1};
};

constexpr HeadKernel kKernels[] = {head_kernel_of<Widths192Rows32>(), head_kernel_of<Widths192>(),
                                   head_kernel_of<Widths256>()};

}  // namespace to_256

std::span<const HeadKernel> portable_kernels_to_256() { return to_256::kKernels; }

}  // namespace headsplit::kernels::per_head

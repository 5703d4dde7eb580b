#include "kernels/per_head/portable_split.cuh"

namespace headsplit::kernels::per_head {

namespace to_128 {

struct Widths64 {
  static constexpr TileShape kShape{.d_k = 64, .d_v = 64};
};
struct Widths128 {
  static constexpr TileShape kShape{.d_k = 128, .d_v = 128};
};
struct Widths128Rows32 {
  static constexpr TileShape kShape{.d_k = 128, .d_v = 128, .blocks = 2};
};

constexpr HeadKernel kKernels[] = {head_kernel_of<Widths64>(), head_kernel_of<Widths128Rows32>(),
                                   head_kernel_of<Widths128>()};

}  // namespace to_128

std::span<const HeadKernel> portable_kernels_to_128() { return to_128::kKernels; }

}  // namespace headsplit::kernels::per_head

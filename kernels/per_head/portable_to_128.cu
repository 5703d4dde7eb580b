#include "kernels/per_head/portable_split.cuh"

namespace headsplit::kernels::per_head {

namespace to_128 {

struct Widths64 {
  static constexpr Widths kWidths{.d_k = 64, .d_v = 64};
};
struct Widths128 {
  static constexpr Widths kWidths{.d_k = 128, .d_v = 128};
};

constexpr HeadKernel kKernels[] = {head_kernel_of<Widths64>(0.5), head_kernel_of<Widths128>(0.6)};

}  // namespace to_128

std::span<const HeadKernel> portable_kernels_to_128() { return to_128::kKernels; }

}  // namespace headsplit::kernels::per_head

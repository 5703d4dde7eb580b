// mla_sparse on a bf16 cache: mla_dense's portable kernel, whose loaders gather rows of the cache
// by an index list (portable_split.cuh).  A request is a list here, and packed rows are the heads
// of its query token.  Bound: bytes up to about 64 rows.  docs/mla-sparse.md.
#include "kernels/mla_dense/portable_split.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense {

namespace gather_512_64 {

constexpr TileShape shape(int groups, int blocks, int tokens, int producer_warps) {
  return {.d_latent = 512,
          .d_rope = 64,
          .groups = groups,
          .blocks = blocks,
          .tokens = tokens,
          .producer_warps = producer_warps,
          .gather = true};
}

struct Rows16Tokens64 {
  static constexpr TileShape kShape = shape(1, 1, 64, 4);
};
struct Rows16Tokens32 {
  static constexpr TileShape kShape = shape(1, 1, 32, 4);
};
struct Rows32Tokens64 {
  static constexpr TileShape kShape = shape(2, 1, 64, 4);
};
struct Rows64Tokens64 {
  static constexpr TileShape kShape = shape(2, 2, 64, 0);
};

constexpr SplitKernel kKernels[] = {
    split_kernel_of<Rows16Tokens64>(), split_kernel_of<Rows16Tokens32>(),
    split_kernel_of<Rows32Tokens64>(), split_kernel_of<Rows64Tokens64>()};

}  // namespace gather_512_64

std::span<const SplitKernel> gather_kernels_512_64() { return gather_512_64::kKernels; }

}  // namespace headsplit::kernels::dense

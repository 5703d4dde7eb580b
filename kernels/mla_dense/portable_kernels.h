#pragma once

#include <span>

#include "kernels/mla_dense/portable_arguments.h"
#include "kernels/mla_dense/portable_shape.h"

/// The device side of mla_dense as host code sees it.  The tables are in the .cu files.
namespace headsplit::kernels::portable {

/// One instantiation of the split kernel.  Its launch: item_begin's CTAs, shape.threads() threads,
/// shape.shared_bytes(stages) bytes of dynamic shared memory.
struct SplitKernel {
  TileShape shape;
  void (*function)(SplitArguments);
};

/// By d_latent and d_rope; the better ones for few rows first.
std::span<const SplitKernel> split_kernels_512_64();
std::span<const SplitKernel> split_kernels_512_0();
std::span<const SplitKernel> split_kernels_256_32();

constexpr int kCombineDims = 128;  ///< latent dimensions that one warp merges

/// Merges partials by their LSEs.  Its launch: grid (rows of a tile x d_latent / kCombineDims over
/// the outputs of a CTA, merge_count).
struct CombineKernel {
  int threads = 128;
  int split_warps = 1;  ///< warps that share the partials of one output
  void (*function)(CombineArguments) = nullptr;

  constexpr int outputs() const { return threads / 32 / split_warps; }
};
/// For few partials a row, and for many.
std::span<const CombineKernel> combine_kernels();

}  // namespace headsplit::kernels::portable

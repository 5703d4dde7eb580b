#pragma once

#include "kernels/mla_dense/cta_items.cuh"
#include "kernels/mla_dense/hopper_shape.h"
#include "kernels/mla_dense/portable_copy.cuh"

/// The cache into the ring of stages.
namespace headsplit::kernels::dense::hopper {

/// Named barriers: the scores' group, then the values' groups.
constexpr int kScoresBarrier = 1;

/// kGather: rows of the cache come by an index list, `page_table` has a slot for each token.
///
/// A values group's half of the cache tiles, one tile after the other over all items of the CTA:
/// 256 latent dimensions, and RoPE with the second half.  A warp copies four tokens at a time,
/// eight lanes 128 bytes of a token.
template <bool kGather>
struct HalfTileLoader {
  const SplitArguments& arguments;
  SharedMemory memory;
  int half_of_dims;
  int warp;
  int lane;

  static constexpr int kTokenGroup = 32 / kTileRowChunks;
  static constexpr int kParts = kTokens / (kTokenGroup * 4);
  static constexpr int kHalfSlices = kTile.latent_slices() / 2;

  CtaItems items;
  int item;  ///< of the next tile
  int token;
  int token_end = 0;
  const std::int32_t* pages;  ///< of the item's request
  std::int32_t rows[kParts];  ///< of the cache, for the tile found

  __device__ void begin() {
    item = items.begin - 1;
    token = token_end = 0;
    next_item();
  }
  /// To the next item with tokens.
  __device__ void next_item() {
    while (token >= token_end && ++item < items.end) {
      const WorkItem found = items.get(item);
      token = found.token_begin;
      token_end = found.token_end;
      pages = arguments.page_table + std::int64_t{found.request} * arguments.pages_per_request;
    }
  }

  __device__ int tile_token(int part) const {
    return (part * 4 + warp) * kTokenGroup + lane / kTileRowChunks;
  }

  /// Looks up where the next tile's tokens are.  Tokens past the end repeat the last one: their
  /// weights will be 0, and what is in unused slots may be NaN.
  __device__ void find() {
    if (item >= items.end) return;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int position = min(token + tile_token(part), token_end - 1);
      if constexpr (kGather) {
        const std::int32_t slot = __ldg(pages + position);
        const bool real = token + tile_token(part) < token_end;
        rows[part] = real && is_slot(arguments, slot) ? slot : kNoSlot;
        continue;
      }
      rows[part] = (__ldg(pages + (position >> arguments.page_shift)) << arguments.page_shift) +
                   (position & ((1 << arguments.page_shift) - 1));
    }
  }

  /// 16 bytes; of an entry that counts for nothing, zeros.
  __device__ void copy(std::uint32_t target, std::uint64_t source, int part) const {
    if constexpr (kGather) {
      ptx::cp_async_16_or_zeros(target, reinterpret_cast<const void*>(source),
                                rows[part] != kNoSlot);
    } else {
      ptx::cp_async_16(target, source);
    }
  }

  /// Starts the copy of the tile found.
  __device__ void start(int stage) {
    if (item >= items.end) return;
    const int chunk = lane % kTileRowChunks;
    const std::uint32_t stage_half =
        memory.stage(stage) + half_of_dims * (kHalfSlices * kKeySliceBytes);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t source =
          ptx::opaque(reinterpret_cast<std::uint64_t>(arguments.cache) +
                      static_cast<std::uint64_t>(kGather ? max(rows[part], 0) : rows[part]) *
                          (2 * kTile.d_qk()) +
                      half_of_dims * (kHalfSlices * kTileRowBytes) + chunk * kChunkBytes);
      const std::uint32_t target = ptx::opaque(stage_half + swizzled(tile_token(part), chunk));
#pragma unroll
      for (int slice = 0; slice < kHalfSlices; ++slice) {
        copy(target + slice * kKeySliceBytes, source + slice * kTileRowBytes, part);
      }
      if (half_of_dims == 1) {
        copy(target + kHalfSlices * kKeySliceBytes, source + kHalfSlices * kTileRowBytes, part);
      }
    }
    ptx::cp_async_mbarrier_arrive(memory.full(stage));
    token += kTokens;
    next_item();
  }
};

}  // namespace headsplit::kernels::dense::hopper

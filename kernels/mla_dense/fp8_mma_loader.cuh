#pragma once

#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/cta_items.cuh"
#include "kernels/mla_dense/fp8_mma_shape.h"

/// The cache into the ring of stages.
namespace headsplit::kernels::dense::mma {

/// Every other tile of all items of the CTA, by a scores' group.  A warp copies four tokens at a
/// time, eight lanes 128 bytes of a token, to where products find them.
struct TileLoader {
  const SplitArguments& arguments;
  SharedMemory memory;
  CtaItems items;
  int warp;
  int lane;

  static constexpr int kTokensACopy = 32 / kTileRowChunks;
  static constexpr int kParts = kTokens / (kTokensACopy * kGroupWarps);

  int item = 0;  ///< of the next tile
  int token = 0;
  int token_end = 0;
  const std::int32_t* pages = nullptr;  ///< of the item's request
  std::int32_t rows[kParts] = {};       ///< of the cache, for the tile found

  /// To the first tile.
  __device__ __forceinline__ void begin() {
    item = items.begin - 1;
    next_item();
  }
  /// To the next item with tokens.
  __device__ __forceinline__ void next_item() {
    while (token >= token_end && ++item < items.end) {
      const WorkItem found = items.get(item);
      token = found.token_begin;
      token_end = found.token_end;
      pages = arguments.page_table + std::int64_t{found.request} * arguments.pages_per_request;
    }
  }
  __device__ __forceinline__ void skip() {
    token += kTokens;
    if (token >= token_end) next_item();
  }

  __device__ __forceinline__ int tile_token(int part) const {
    return (part * kGroupWarps + warp) * kTokensACopy + lane / kTileRowChunks;
  }

  /// Looks up where the next tile's tokens are.  Tokens past the end repeat the last one: their
  /// weights will be 0, and what is in unused slots may be NaN.
  __device__ __forceinline__ void find() {
    if (item >= items.end) return;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int position = min(token + tile_token(part), token_end - 1);
      rows[part] = (__ldg(pages + (position >> arguments.page_shift)) << arguments.page_shift) +
                   (position & ((1 << arguments.page_shift) - 1));
    }
  }

  /// Starts the copy of the tile found, and goes on to the one after the next.
  __device__ __forceinline__ void start(int stage) {
    if (item >= items.end) return;
    const int chunk = lane % kTileRowChunks;
    const std::uint32_t tile = memory.stage(stage);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t source =
          ptx::opaque(reinterpret_cast<std::uint64_t>(arguments.cache) +
                      static_cast<std::uint64_t>(rows[part]) * kRowBytes + chunk * kChunkBytes);
      const std::uint32_t target = ptx::opaque(tile + swizzled(tile_token(part), chunk));
#pragma unroll
      for (int slice = 0; slice < kLatentSlices; ++slice) {
        ptx::cp_async_16(target + slice * kSliceBytes, source + slice * kTileRowBytes);
      }
      if (chunk < kRopeRowBytes / kChunkBytes) {
        ptx::cp_async_16(tile + kLatentSlices * kSliceBytes + swizzled_64(tile_token(part), chunk),
                         source + kLatent);
      }
    }
    ptx::cp_async_mbarrier_arrive(memory.full(stage));
    skip();
    skip();
  }
};

}  // namespace headsplit::kernels::dense::mma

#pragma once

#include "kernels/mla_dense/cta_items.cuh"
#include "kernels/mla_dense/portable_memory.cuh"

namespace headsplit::kernels::dense {

/// Of an entry of an index list that counts for nothing.
constexpr std::int32_t kNoSlot = -1;
__device__ __forceinline__ bool is_slot(const SplitArguments& arguments, std::int32_t entry) {
  return static_cast<std::uint32_t>(entry) < static_cast<std::uint32_t>(arguments.slot_count);
}

/// One warp's share of the copy of a cache tile into a stage: every loader_warps-th group of four
/// tokens, eight lanes for 128 bytes of a token.
template <TileShape kShape>
struct TileCopy {
  static constexpr int kWarps = kShape.loader_warps();
  static constexpr int kTokenGroup = 32 / kTileRowChunks;
  static constexpr int kParts = kShape.tokens / (kTokenGroup * kWarps);
  static constexpr int kSlices = kShape.latent_slices() + kShape.rope_slices();
  static constexpr int kRowBytes = 2 * kShape.d_qk();
  static_assert(kParts * kTokenGroup * kWarps == kShape.tokens);

  int warp;  ///< of the loaders
  int lane;
  int token;       ///< first of the tile
  int last_token;  ///< of the item
  std::int32_t pages[kParts];

  __device__ int tile_token(int part) const {
    return (part * kWarps + warp) * kTokenGroup + lane / kTileRowChunks;
  }
  /// Tokens past the end repeat the last one: their weights will be 0, and what is in unused slots
  /// may be NaN.
  __device__ int request_token(int part) const { return min(token + tile_token(part), last_token); }

  /// Looks up the tile that begins at `tile_begin`; the page table has been read when it starts.
  __device__ void find(const SplitArguments& arguments, int request, int tile_begin,
                       int token_end) {
    token = tile_begin;
    last_token = token_end - 1;
    const std::int32_t* table =
        arguments.page_table + std::int64_t{request} * arguments.pages_per_request;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if constexpr (kShape.gather) {
        const bool real = tile_begin + tile_token(part) < token_end;
        const int slot = __ldg(table + request_token(part));
        pages[part] = real && is_slot(arguments, slot) ? slot : kNoSlot;
      } else {
        pages[part] = __ldg(table + (request_token(part) >> arguments.page_shift));
      }
    }
  }

  /// Starts the copy.  Addresses of a part are made once: the slices are in the instructions.
  __device__ void start(const SplitArguments& arguments, std::uint32_t stage) const {
    const int chunk = lane % kTileRowChunks;
    const int slot_mask = (1 << arguments.page_shift) - 1;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const bool real = !kShape.gather || pages[part] != kNoSlot;
      const int row =
          kShape.gather ? max(pages[part], 0)
                        : (pages[part] << arguments.page_shift) + (request_token(part) & slot_mask);
      const std::uint64_t source =
          ptx::opaque(reinterpret_cast<std::uint64_t>(arguments.cache) +
                      static_cast<std::uint64_t>(row) * kRowBytes + chunk * kChunkBytes);
      const std::uint32_t target = ptx::opaque(stage + swizzled(tile_token(part), chunk));
#pragma unroll
      for (int slice = 0; slice < kSlices; ++slice) {
        const int values_left = kShape.d_qk() - slice * kTileRowValues;
        if (values_left < kTileRowValues && chunk * 8 >= values_left) continue;
        const std::uint32_t to = target + slice * kShape.tokens * kTileRowBytes;
        const std::uint64_t from = source + slice * kTileRowBytes;
        if constexpr (kShape.gather) {
          ptx::cp_async_16_or_zeros(to, reinterpret_cast<const void*>(from), real);
        } else {
          ptx::cp_async_16(to, from, arguments.cache_policy);
        }
      }
    }
    __syncwarp();  // lanes that have nothing of the last slice wait for the others
  }
};

}  // namespace headsplit::kernels::dense

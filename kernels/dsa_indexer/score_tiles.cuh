#pragma once

#include <cstdint>

#include "kernels/device/ptx.cuh"
#include "kernels/device/ring.cuh"
#include "kernels/dsa_indexer/arguments.h"
#include "kernels/dsa_indexer/score_shape.h"

/// Which tiles a CTA takes, and how they come into the ring of stages.
namespace headsplit::kernels::indexer {

/// A place in the tiles of all requests, one after the other.
struct TilePlace {
  const ScoreArguments& arguments;
  int tile;         ///< of all requests
  int request = 0;  ///< it belongs to
  int length = 0;   ///< of the request

  __device__ TilePlace(const ScoreArguments& of, int first) : arguments(of), tile(first) {
    int low = 0;  // the last request that begins at the tile or before
    int high = of.batch - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (__ldg(of.first_tile + middle) <= first) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    enter(low);
  }

  __device__ int first_token() const { return (tile - request_begin) * kTokens; }
  __device__ void advance() {
    ++tile;
    while (tile >= request_end && request + 1 < arguments.batch) enter(request + 1);
  }

 private:
  __device__ void enter(int next) {
    request = next;
    request_begin = __ldg(arguments.first_tile + next);
    request_end = __ldg(arguments.first_tile + next + 1);
    length = __ldg(arguments.lengths + next);
  }

  int request_begin = 0;  ///< tiles
  int request_end = 0;
};

/// This CTA's tiles: an equal share.
struct TileRange {
  int begin;
  int end;

  __device__ static TileRange of_this_cta(const ScoreArguments& arguments) {
    const std::int64_t total = __ldg(arguments.first_tile + arguments.batch);
    return {int(total * blockIdx.x / gridDim.x), int(total * (blockIdx.x + 1) / gridDim.x)};
  }
};

/// Copies tiles into stages, one after the other.
struct TileLoader {
  const ScoreArguments& arguments;
  std::uint32_t stages;    ///< shared memory
  std::uint32_t barriers;  ///< one a stage: its tile has landed
  TilePlace place;
  int end;
  int stage = 0;

  __device__ const std::uint8_t* page_of(int token) const {
    const int page =
        __ldg(arguments.page_table + std::int64_t{place.request} * arguments.pages_per_request +
              (token >> arguments.page_shift));
    return arguments.cache + ((std::int64_t{page} << arguments.page_shift) * kKeyBytes);
  }
  __device__ void advance() {
    stage = stage + 1 == arguments.stages ? 0 : stage + 1;
    place.advance();
  }

  /// By the copy engine; called by the first warp.  Every lane takes a run of tokens of one page.
  __device__ void start_bulk(int lane) {
    if (place.tile >= end) return;
    const int page_tokens = 1 << arguments.page_shift;
    const int run = min(page_tokens, kTokens);
    const int first = place.first_token() + lane * run;
    const bool mine = lane * run < kTokens && first < place.length;
    const int runs = __popc(__ballot_sync(0xFFFFFFFF, mine));
    const std::uint32_t barrier = barriers + 8 * stage;
    if (lane == 0) ptx::mbarrier_arrive_expect(barrier, runs * run * kKeyBytes);
    __syncwarp();
    if (mine) {
      const std::uint8_t* const page = page_of(first);
      const std::uint32_t target = stages + stage * kStageBytes;
      const int slot = first & (page_tokens - 1);
      if (page_tokens == kTokens) {
        ptx::copy_bytes(target, page, kStageBytes, barrier);
      } else {
        ptx::copy_bytes(target + lane * run * kDim, page + key_at(slot), run * kDim, barrier);
        ptx::copy_bytes(target + kTileKeys + lane * run * kScaleBytes,
                        page + scale_at(page_tokens, slot), run * kScaleBytes, barrier);
      }
    }
    advance();
  }

  /// By all threads, 16 bytes at a time; every thread arrives at the barrier.
  __device__ void start_chunks(int thread) {
    if (place.tile >= end) return;
    const int page_tokens = 1 << arguments.page_shift;
    const int first = place.first_token();
    const std::uint32_t target = stages + stage * kStageBytes;
    const auto copy = [&](std::uint32_t offset, int token, std::int64_t (*at)(int, int), int byte) {
      if (first + token >= place.length) return;
      const int slot = (first + token) & (page_tokens - 1);
      const std::uint8_t* const source = page_of(first + token) + at(page_tokens, slot) + byte;
      ptx::cp_async_16(target + offset, __cvta_generic_to_global(source));
    };
    const auto key = [](int, int slot) { return key_at(slot); };
    for (int chunk = thread; chunk < kTileKeys / 16; chunk += kThreads) {
      copy(chunk * 16, chunk / (kDim / 16), key, chunk % (kDim / 16) * 16);
    }
    const auto scale = [](int tokens, int slot) { return scale_at(tokens, slot); };
    if (thread < kTokens * kScaleBytes / 16) {
      copy(kTileKeys + thread * 16, thread * 16 / kScaleBytes, scale, 0);
    }
    ptx::cp_async_mbarrier_arrive(barriers + 8 * stage);
    advance();
  }
};

}  // namespace headsplit::kernels::indexer

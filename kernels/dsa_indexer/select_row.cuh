#pragma once

#include <cstdint>

#include "kernels/device/ptx.cuh"
#include "kernels/dsa_indexer/arguments.h"
#include "kernels/dsa_indexer/select.h"
#include "kernels/dsa_indexer/shape.h"

/// One row of scores, shared out to the warps of a cluster.
namespace headsplit::kernels::indexer {

constexpr int kSelectWarps = kSelectThreads / 32;
constexpr unsigned kAllLanes = 0xFFFFFFFF;

/// Scores as numbers that are in order: larger means a larger score.  -0 does not occur.
__device__ __forceinline__ std::uint32_t key_of(float score) {
  const std::uint32_t bits = __float_as_uint(score);
  return bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFF : 0x80000000);
}

/// A row, the CTAs that share it, and where its list goes.
struct Row {
  const float* scores;
  int tokens;
  int wanted;  ///< fewer than there are
  int cta;
  int ctas;
  std::int32_t* chosen;
  const std::int32_t* pages;  ///< of the request
  int page_shift;

  __device__ void write(int place, int token) const {
    const std::int32_t page = __ldg(pages + (token >> page_shift));
    chosen[place] = (page << page_shift) | (token & ((1 << page_shift) - 1));
  }
};

/// This warp's piece of the row: neighbouring tokens, a multiple of 128 of them.
struct Piece {
  const float* scores;  ///< of the row
  int cta_begin;        ///< first token of this CTA
  int cta_tokens;       ///< most that it can have
  int begin;
  int end;
  int lane;

  __device__ static Piece of_this_warp(const Row& row) {
    constexpr int kStep = 128;
    const int warps = row.ctas * kSelectWarps;
    const int size = ((row.tokens + warps - 1) / warps + kStep - 1) / kStep * kStep;
    const int cta_begin = row.cta * kSelectWarps * size;
    const int begin = min(row.tokens, cta_begin + int(threadIdx.x) / 32 * size);
    return {
        row.scores,           cta_begin, kSelectWarps * size, begin, min(row.tokens, begin + size),
        int(threadIdx.x) % 32};
  }

  /// body(first token, scores, how many of the four there are), four neighbouring tokens a lane;
  /// all lanes of the warp come together.  Loads are ahead of what is done with them.
  template <class Body>
  __device__ __forceinline__ void for_each_four(const Body& body) const {
    constexpr int kAhead = 4;
    for (int base = begin; base < end; base += kAhead * 128) {
      float4 found[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int token = base + 128 * i + 4 * lane;
        if (token < end) found[i] = *reinterpret_cast<const float4*>(scores + token);
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (base + 128 * i >= end) break;
        const int token = base + 128 * i + 4 * lane;
        const float four[4] = {found[i].x, found[i].y, found[i].z, found[i].w};
        body(token, four, max(0, min(4, end - token)));
      }
    }
  }

  /// body(token, score), in any order.
  template <class Body>
  __device__ __forceinline__ void for_each(const Body& body) const {
    for_each_four([&](int token, const float(&four)[4], int count) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (e < count) body(token + e, four[e]);
      }
    });
  }
};

}  // namespace headsplit::kernels::indexer

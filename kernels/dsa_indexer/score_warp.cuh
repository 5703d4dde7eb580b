#pragma once

#include <cstdint>

#include "kernels/device/quad.cuh"
#include "kernels/dsa_indexer/score_tiles.cuh"

/// What both kernels that score tokens share: how a warp holds its 16 tokens, and the last step.
namespace headsplit::kernels::indexer {

/// A lane's share of two tokens' keys: token(half), of whose 128 values it has 16 x q .. 16 x q +
/// 15 and 64 + 16 x q .. (q = lane % 4).  Which k of a product a value is, is the queries'
/// business, which are laid out alike.
struct KeyShare {
  std::uint32_t words[2][2][4];  ///< [token][half of the values][word]
  float scale[2];
};

/// Rows are 128 bytes apart, so tokens that are neighbours read different halves at the same time:
/// no two lanes then meet in a bank.
__device__ __forceinline__ void load_keys(KeyShare& share, std::uint32_t stage, int warp,
                                          int lane) {
  const bool odd = lane / 4 % 2 != 0;
#pragma unroll
  for (int token = 0; token < 2; ++token) {
    const int row = 16 * warp + lane / 4 + 8 * token;
    const std::uint32_t address = stage + row * kDim + lane % 4 * 16;
    std::uint32_t first[4];
    std::uint32_t second[4];
    ptx::load_shared(first, address + (odd ? 64 : 0));
    ptx::load_shared(second, address + (odd ? 0 : 64));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      share.words[token][0][i] = odd ? second[i] : first[i];
      share.words[token][1][i] = odd ? first[i] : second[i];
    }
    share.scale[token] = __uint_as_float(ptx::load_shared(stage + kTileKeys + row * kScaleBytes));
  }
}

/// sum_h weight_h x relu(product_h) of this lane's heads for two tokens.  products: accumulators of
/// 8 heads each, as mma has them: heads 2 x q and 2 x q + 1 of the first token, then of the second.
template <int kCount>
__device__ __forceinline__ void add_heads(float (&sums)[2], const float (&products)[kCount],
                                          std::uint32_t weights, int lane) {
#pragma unroll
  for (int tile = 0; tile < kCount / 4; ++tile) {
    std::uint32_t pair[2];
    ptx::load_shared(pair, weights + (8 * tile + lane % 4 * 2) * 4);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      sums[e / 2] =
          fmaf(fmaxf(products[4 * tile + e], 0), __uint_as_float(pair[e % 2]), sums[e / 2]);
    }
  }
}

/// Where this lane's scores go: of the tokens of one tile, for the first query token of a group.
struct ScorePlace {
  float* scores;  ///< of the lane's token
  bool real;      ///< there is such a token

  __device__ ScorePlace() : scores(nullptr), real(false) {}
  __device__ ScorePlace(const ScoreArguments& arguments, const TilePlace& place, int first_query,
                        int warp, int lane) {
    const int token = place.first_token() + 16 * warp + lane / 4 + (lane % 4 == 0 ? 0 : 8);
    const std::int64_t row = std::int64_t{place.request} * arguments.query_tokens + first_query;
    scores = arguments.scores + row * arguments.score_stride + token;
    real = lane % 4 < 2 && token < place.length;
  }
};

/// Scores of this warp's 16 tokens for one query token: `row` of the group.
__device__ __forceinline__ void store_scores(const float (&sums)[2], const float (&scale)[2],
                                             const ScorePlace& place, std::int64_t row_offset,
                                             int lane) {
  const float first = quad_sum(sums[0]) * scale[0];
  const float second = quad_sum(sums[1]) * scale[1];
  if (place.real) place.scores[row_offset] = lane % 4 == 0 ? first : second;
}

/// Weights of a group of query tokens, 0 for heads that there are not.
__device__ __forceinline__ void load_weights(const ScoreArguments& arguments, std::uint32_t weights,
                                             int heads, std::int64_t first_row, int query_tokens) {
  for (int i = threadIdx.x; i < query_tokens * heads; i += kThreads) {
    const int head = i % heads;
    const float weight =
        head < arguments.heads
            ? __ldg(arguments.weights + (first_row + i / heads) * arguments.heads + head)
            : 0.0f;
    ptx::store_shared(weights + 4 * i, __float_as_uint(weight));
  }
}

}  // namespace headsplit::kernels::indexer

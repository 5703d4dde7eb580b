#pragma once

#include <cstdint>

#include "kernels/cpu/aligned.h"

namespace headsplit::kernels::indexer {

/// fp32 copies that one worker keeps between tasks.
struct ScoreWorkspace {
  ScoreWorkspace(int heads, int query_tokens, int page_tokens);

  AlignedArray<float> keys;     ///< [page_tokens rounded up, 128]
  AlignedArray<float> queries;  ///< [query_tokens] panels [128, panel width] of heads
  AlignedArray<float> weights;  ///< [query_tokens, heads rounded up]
};

/// Queries of one request.
struct ScoreQueries {
  const std::uint8_t* query = nullptr;  ///< [query_tokens, heads, 128] e4m3
  const float* weights = nullptr;       ///< [query_tokens, heads]
  int heads = 0;
  int query_tokens = 0;
};

/// Converts and packs queries, for the pages that follow.
void pack_queries(const ScoreQueries& queries, ScoreWorkspace& workspace);

/// Slots of one page, from its first on.
struct ScorePage {
  const std::uint8_t* keys = nullptr;  ///< [slots, 128] e4m3
  const float* scales = nullptr;       ///< [slots]
  int slots = 0;                       ///< those in use
};

/// scores[query token x stride + slot] of a page, for the queries that were packed.
void score_page(const ScoreQueries& queries, const ScorePage& page, float* scores,
                std::int64_t stride, ScoreWorkspace& workspace);

/// What the scores run on, on this machine.
const char* score_instructions();

}  // namespace headsplit::kernels::indexer

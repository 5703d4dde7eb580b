#pragma once

#include <cstdint>

/// What the kernels of the indexer are launched with.
namespace headsplit::kernels::indexer {

/// scores: one row for each query token; heads past index_heads have weight 0.
struct ScoreArguments {
  const std::uint8_t* query = nullptr;  ///< [batch, query_tokens, heads, 128] e4m3
  const float* weights = nullptr;       ///< [batch, query_tokens, heads]
  const std::uint8_t* cache = nullptr;  ///< [page_count] pages of keys and scales (shape.h)
  const std::int32_t* page_table = nullptr;
  const std::int32_t* lengths = nullptr;     ///< [batch]
  const std::int32_t* first_tile = nullptr;  ///< [batch + 1], tiles of 64 tokens before a request
  float* scores = nullptr;                   ///< [batch, query_tokens, score_stride]
  std::int64_t score_stride = 0;
  std::int32_t batch = 0;
  std::int32_t query_tokens = 0;
  std::int32_t heads = 0;
  std::int32_t group_tokens = 0;  ///< query tokens that a CTA takes at once
  std::int32_t pages_per_request = 0;
  std::int32_t page_shift = 0;  ///< log2 of the tokens of a page
  std::int32_t stages = 0;
};

struct SelectArguments {
  const float* scores = nullptr;  ///< as above
  const std::int32_t* page_table = nullptr;
  const std::int32_t* ends = nullptr;  ///< [batch, query_tokens], tokens that are scored
  std::int32_t* chosen = nullptr;      ///< [batch, query_tokens, top_k], slots of the cache
  std::int32_t* counts = nullptr;      ///< [batch, query_tokens], how many of them there are
  std::int64_t score_stride = 0;
  std::int32_t query_tokens = 0;
  std::int32_t top_k = 0;
  std::int32_t pages_per_request = 0;
  std::int32_t page_shift = 0;
};

}  // namespace headsplit::kernels::indexer

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The indexer's random inputs in device memory, equal to those of stored_values.h.
namespace headsplit::kernels::indexer {

/// Enqueues the queries [rows, heads, 128] and weights [rows, heads] of rows that begin at
/// first_row of the whole problem.
cudaError_t fill_queries(std::uint8_t* query, float* weights, std::int64_t rows,
                         std::int64_t first_row, int heads, std::uint64_t seed,
                         cudaStream_t stream);

struct CacheFill {
  std::uint8_t* cache = nullptr;
  const std::int32_t* used_slots = nullptr;    ///< [page_count]; the others hold NaN
  const std::int32_t* source_pages = nullptr;  ///< [page_count], pages of the whole; null: ours
  std::int64_t page_count = 0;
  int page_tokens = 0;
  std::uint64_t seed = 0;
};

/// Enqueues the pages of keys and scales.
cudaError_t fill_keys(const CacheFill& fill, cudaStream_t stream);

}  // namespace headsplit::kernels::indexer

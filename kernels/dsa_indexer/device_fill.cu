#include "kernels/dsa_indexer/device_fill.h"

#include <algorithm>

#include "kernels/dsa_indexer/stored_values.h"

namespace headsplit::kernels::indexer {
namespace {

constexpr int kFillThreads = 256;
constexpr int kBlocksMax = 4096;

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((count + kFillThreads - 1) / kFillThreads, 1, kBlocksMax));
}

__global__ void fill_queries_kernel(std::uint8_t* query, float* weights, std::int64_t count,
                                    std::int64_t first, float unit, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kFillThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kFillThreads + threadIdx.x; i < count * kDim;
       i += stride) {
    query[i] = stored_query(seed, first * kDim + i);
    if (i < count) weights[i] = stored_weight(seed, first + i, unit);
  }
}

/// A block takes slots, its threads the values of each.
__global__ void fill_keys_kernel(CacheFill fill) {
  const std::int64_t slots = fill.page_count * fill.page_tokens;
  for (std::int64_t at = blockIdx.x; at < slots; at += gridDim.x) {
    const std::int64_t page = at / fill.page_tokens;
    const int slot = static_cast<int>(at % fill.page_tokens);
    std::uint8_t* const bytes = fill.cache + page * fill.page_tokens * kKeyBytes;
    std::uint8_t* const key = bytes + key_at(slot);
    auto* const scale = reinterpret_cast<float*>(bytes + scale_at(fill.page_tokens, slot));
    const int dim = threadIdx.x;
    if (slot >= fill.used_slots[page]) {
      if (dim < kDim) key[dim] = 0xFF;
      if (dim == 0) *scale = __uint_as_float(0xFFFFFFFF);
      continue;
    }
    const std::int64_t whole_page = fill.source_pages == nullptr ? page : fill.source_pages[page];
    const std::int64_t whole_slot = whole_page * fill.page_tokens + slot;
    const float found = stored_scale(fill.seed, whole_slot);
    if (dim < kDim) key[dim] = stored_key(fill.seed, whole_slot, dim, found);
    if (dim == 0) *scale = found;
  }
}

}  // namespace

cudaError_t fill_queries(std::uint8_t* query, float* weights, std::int64_t rows,
                         std::int64_t first_row, int heads, std::uint64_t seed,
                         cudaStream_t stream) {
  const std::int64_t count = rows * heads;
  fill_queries_kernel<<<blocks_for(count * kDim), kFillThreads, 0, stream>>>(
      query, weights, count, first_row * heads, weight_unit(heads), seed);
  return cudaGetLastError();
}

cudaError_t fill_keys(const CacheFill& fill, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>(fill.page_count * fill.page_tokens, 1, kBlocksMax));
  fill_keys_kernel<<<blocks, kDim, 0, stream>>>(fill);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::indexer

#include <algorithm>

#include "kernels/bf16.h"
#include "kernels/per_head/device_fill.h"

namespace headsplit::kernels::per_head {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksMax = 8192;
constexpr int kPiece = 8;  ///< values that a thread makes at once
constexpr std::uint32_t kTwoNans = 0x7FFF7FFF;

__global__ void fill_kernel(const HeadCache cache, std::uint64_t seed, std::int64_t pieces) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  const int row_pieces = cache.width / kPiece;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < pieces;
       i += stride) {
    const std::int64_t row = i / row_pieces;
    const std::int64_t page_and_head = row / cache.page_tokens;
    const int slot = static_cast<int>(row % cache.page_tokens);
    const std::int64_t page = page_and_head / cache.kv_heads;
    const std::int64_t whole_page = cache.source_pages == nullptr ? page : cache.source_pages[page];
    const std::int64_t whole_head =
        whole_page * cache.whole_kv_heads + cache.source_heads[page_and_head % cache.kv_heads];
    const std::int64_t first =
        (whole_head * cache.page_tokens + slot) * cache.width + i % row_pieces * kPiece;
    std::uint32_t pairs[kPiece / 2];
    for (int pair = 0; pair < kPiece / 2; ++pair) {
      const auto index = static_cast<std::uint64_t>(first + 2 * pair);
      const std::uint32_t low = bf16_bits(random_value(seed, cache.tensor, index));
      const std::uint32_t high = bf16_bits(random_value(seed, cache.tensor, index + 1));
      pairs[pair] = slot < cache.used_slots[page] ? high << 16 | low : kTwoNans;
    }
    reinterpret_cast<uint4*>(cache.values)[i] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

}  // namespace

cudaError_t fill_cache(const HeadCache& cache, std::uint64_t seed, cudaStream_t stream) {
  const std::int64_t pieces =
      cache.page_count * cache.kv_heads * cache.page_tokens * (cache.width / kPiece);
  const auto blocks = std::min<std::int64_t>((pieces + kThreads - 1) / kThreads, kBlocksMax);
  fill_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(cache, seed, pieces);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::per_head

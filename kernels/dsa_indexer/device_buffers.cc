#include "kernels/dsa_indexer/device_buffers.h"

#include <algorithm>
#include <vector>

#include "kernels/dsa_indexer/device_fill.h"
#include "kernels/dsa_indexer/score_shape.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels::indexer {
namespace {

/// Of lists and their lengths: -1 would be legal.
constexpr int kPoisonByte = 0x7F;

std::vector<std::int32_t> first_tiles(const Problem& problem) {
  std::vector<std::int32_t> first = {0};
  for (const std::int32_t length : problem.lengths) {
    first.push_back(first.back() + (length + kTokens - 1) / kTokens);
  }
  return first;
}

Result<void> fill(const Problem& problem, const Buffers& buffers, cudaStream_t stream,
                  DevicePool* pool) {
  const RankProblem& shape = problem.shape;
  const auto used_on_host = split::used_slots(problem);
  const auto used = TRY(DeviceBuffer<std::int32_t>::copy_of(used_on_host, stream, pool));
  const auto source_pages =
      TRY(DeviceBuffer<std::int32_t>::copy_of(problem.source.pages, stream, pool));
  const std::int64_t first_row = std::int64_t{problem.source.first_request} * shape.query_tokens;
  CUDA_TRY(fill_queries(buffers.query.data(), buffers.weights.data(), problem.rows(), first_row,
                        shape.index_heads, problem.seed, stream));
  CUDA_TRY(fill_keys({.cache = buffers.cache.data(),
                      .used_slots = used.data(),
                      .source_pages = source_pages.data(),
                      .page_count = problem.page_count,
                      .page_tokens = problem.page_tokens,
                      .seed = problem.seed},
                     stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  return {};
}

}  // namespace

Result<void> Buffers::poison(cudaStream_t stream) const {
  TRY(make_nan(scores, stream));
  for (const auto* lists : {&chosen, &counts}) {
    CUDA_TRY(cudaMemsetAsync(lists->data(), kPoisonByte, lists->bytes(), stream));
  }
  return {};
}

Result<Buffers> make_buffers(const Problem& problem, cudaStream_t stream, DevicePool* pool) {
  const RankProblem& shape = problem.shape;
  const std::int64_t rows = problem.rows();
  Buffers buffers;
  const std::int64_t heads = rows * shape.index_heads;
  buffers.query = TRY(DeviceBuffer<std::uint8_t>::make(heads * kDim, pool));
  buffers.weights = TRY(DeviceBuffer<float>::make(heads, pool));
  buffers.cache = TRY(DeviceBuffer<std::uint8_t>::make(
      std::int64_t{problem.page_count} * problem.page_tokens * kKeyBytes, pool));
  buffers.page_table = TRY(DeviceBuffer<std::int32_t>::copy_of(problem.page_table, stream, pool));
  buffers.lengths = TRY(DeviceBuffer<std::int32_t>::copy_of(problem.lengths, stream, pool));
  const auto ends = split::attended_tokens(problem);
  buffers.ends = TRY(DeviceBuffer<std::int32_t>::copy_of(ends, stream, pool));
  const auto tiles = first_tiles(problem);
  buffers.first_tile = TRY(DeviceBuffer<std::int32_t>::copy_of(tiles, stream, pool));
  buffers.score_stride =
      std::max<std::int64_t>(1, (shape.context + kTokens - 1) / kTokens) * kTokens;
  buffers.scores = TRY(DeviceBuffer<float>::make(rows * buffers.score_stride, pool));
  buffers.chosen = TRY(DeviceBuffer<std::int32_t>::make(rows * shape.top_k, pool));
  buffers.counts = TRY(DeviceBuffer<std::int32_t>::make(rows, pool));
  TRY(fill(problem, buffers, stream, pool));
  return buffers;
}

}  // namespace headsplit::kernels::indexer

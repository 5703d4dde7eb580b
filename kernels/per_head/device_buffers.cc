#include "kernels/per_head/device_buffers.h"

#include <vector>

#include "kernels/mla_dense/device_fill.h"
#include "kernels/per_head/device_fill.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels::per_head {
namespace {

std::vector<hopper::WorkItem> hopper_items(const std::vector<split::WorkItem>& items,
                                           int kv_heads) {
  std::vector<hopper::WorkItem> found;
  for (const split::WorkItem& item : items) {
    found.push_back({.request = item.request / kv_heads,
                     .kv_head = item.request % kv_heads,
                     .row_begin = item.row_begin,
                     .row_count = item.row_count,
                     .token_begin = item.token_begin,
                     .token_end = item.token_end,
                     .slot = item.slot});
  }
  return found;
}

/// Random query, keys and values; waits for them.
Result<void> fill(const Problem& problem, const Buffers& buffers, cudaStream_t stream,
                  DevicePool* pool) {
  const RankProblem& shape = problem.shape;
  const dense::QuerySource source{.local_heads = shape.local_heads,
                                  .query_tokens = shape.query_tokens,
                                  .d_qk = shape.query_width(),
                                  .heads = problem.source.heads,
                                  .first_head = problem.source.first_head,
                                  .first_request = problem.source.first_request};
  CUDA_TRY(
      dense::fill_query(buffers.query.data(), buffers.query.count(), problem.seed, stream, source));
  if (buffers.key.count() == 0) {
    return cuda_result(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  std::vector<std::int32_t> heads;
  for (int head = 0; head < shape.kv_heads; ++head) heads.push_back(problem.source_kv_head(head));
  const auto used_on_host = split::used_slots(problem);
  const auto used = TRY(DeviceBuffer<std::int32_t>::copy_of(used_on_host, stream, pool));
  const auto source_heads = TRY(DeviceBuffer<std::int32_t>::copy_of(heads, stream, pool));
  const auto source_pages =
      TRY(DeviceBuffer<std::int32_t>::copy_of(problem.source.pages, stream, pool));
  HeadCache cache{
      .values = buffers.key.data(),
      .tensor = Tensor::key,
      .page_count = problem.page_count,
      .kv_heads = shape.kv_heads,
      .page_tokens = problem.page_tokens,
      .width = shape.query_width(),
      .used_slots = used.data(),
      .source_pages = source_pages.data(),
      .source_heads = source_heads.data(),
      .whole_kv_heads = problem.source.heads == 0 ? shape.kv_heads : problem.source.kv_heads};
  CUDA_TRY(fill_cache(cache, problem.seed, stream));
  cache.values = buffers.value.data();
  cache.tensor = Tensor::value;
  cache.width = shape.output_width();
  CUDA_TRY(fill_cache(cache, problem.seed, stream));
  return cuda_result(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace

Result<void> Buffers::poison(cudaStream_t stream) const {
  TRY(make_nan(output, stream));
  for (const auto* buffer : {&lse, &partial_output, &partial_lse}) {
    TRY(make_nan(*buffer, stream));
  }
  return {};
}

Result<Buffers> make_buffers(const Problem& problem, const split::SplitPlan& plan, bool own_cache,
                             cudaStream_t stream, DevicePool* pool) {
  const RankProblem& shape = problem.shape;
  const std::int64_t slot_rows = std::int64_t{1} * plan.slot_count * plan.tile_rows;
  const std::int64_t head_tokens =
      own_cache ? std::int64_t{problem.page_count} * shape.kv_heads * problem.page_tokens : 0;
  const int d_v = shape.output_width();
  using Bf16 = DeviceBuffer<std::uint16_t>;
  using Float = DeviceBuffer<float>;
  using Int = DeviceBuffer<std::int32_t>;
  Buffers buffers;
  buffers.query = TRY(Bf16::make(problem.rows() * shape.query_width(), pool));
  buffers.key = TRY(Bf16::make(head_tokens * shape.query_width(), pool));
  buffers.value = TRY(Bf16::make(head_tokens * d_v, pool));
  buffers.page_table = TRY(Int::copy_of(problem.page_table, stream, pool));
  const auto ends = split::attended_tokens(problem);
  buffers.ends = TRY(Int::copy_of(ends, stream, pool));
  buffers.items = TRY(DeviceBuffer<split::WorkItem>::copy_of(plan.items, stream, pool));
  const auto of_hopper = hopper_items(plan.items, shape.kv_heads);
  buffers.hopper_items = TRY(DeviceBuffer<hopper::WorkItem>::copy_of(of_hopper, stream, pool));
  buffers.item_begin = TRY(Int::copy_of(plan.item_begin, stream, pool));
  buffers.merges = TRY(DeviceBuffer<split::MergeItem>::copy_of(plan.merges, stream, pool));
  buffers.output = TRY(Bf16::make(problem.rows() * d_v, pool));
  buffers.lse = TRY(Float::make(problem.rows(), pool));
  buffers.partial_output = TRY(Float::make(slot_rows * d_v, pool));
  buffers.partial_lse = TRY(Float::make(slot_rows, pool));
  TRY(fill(problem, buffers, stream, pool));
  return buffers;
}

}  // namespace headsplit::kernels::per_head

#include "kernels/mla_dense/portable_buffers.h"

#include <algorithm>
#include <vector>

#include "kernels/mla_dense/portable_fill.h"

namespace headsplit::kernels::portable {
namespace {

/// For each page, how many of its slots a request uses.
std::vector<std::int32_t> used_slots(const Problem& problem) {
  std::vector<std::int32_t> used(static_cast<std::size_t>(problem.page_count));
  for (std::size_t request = 0; request < problem.lengths.size(); ++request) {
    const auto* pages =
        &problem.page_table[request * static_cast<std::size_t>(problem.pages_per_request)];
    for (int left = problem.lengths[request]; left > 0; left -= problem.page_tokens) {
      used[static_cast<std::size_t>(*pages++)] = std::min(left, problem.page_tokens);
    }
  }
  return used;
}

Result<void> make_nan(const DeviceBuffer<float>& buffer, cudaStream_t stream) {
  if (buffer.count() == 0) return {};
  // All bits set is a NaN.
  return cuda_result(cudaMemsetAsync(buffer.data(), 0xFF, buffer.bytes(), stream),
                     "cudaMemsetAsync");
}

}  // namespace

Result<void> Buffers::poison(cudaStream_t stream) const {
  for (const auto* buffer : {&output, &lse, &partial_output, &partial_lse}) {
    TRY(make_nan(*buffer, stream));
  }
  return {};
}

Result<Buffers> make_buffers(const Problem& problem, const SplitPlan& plan, cudaStream_t stream) {
  const RankProblem& shape = problem.shape;
  const std::int64_t slot_rows = std::int64_t{1} * plan.slot_count * plan.tile_rows;
  Buffers buffers;
  buffers.query = TRY(DeviceBuffer<std::uint16_t>::make(problem.rows() * shape.d_qk()));
  buffers.cache = TRY(DeviceBuffer<std::uint16_t>::make(std::int64_t{problem.page_count} *
                                                        problem.page_tokens * shape.d_qk()));
  buffers.page_table = TRY(DeviceBuffer<std::int32_t>::copy_of(problem.page_table, stream));
  buffers.lengths = TRY(DeviceBuffer<std::int32_t>::copy_of(problem.lengths, stream));
  buffers.items = TRY(DeviceBuffer<WorkItem>::copy_of(plan.items, stream));
  buffers.item_begin = TRY(DeviceBuffer<std::int32_t>::copy_of(plan.item_begin, stream));
  buffers.merges = TRY(DeviceBuffer<MergeItem>::copy_of(plan.merges, stream));
  buffers.output = TRY(DeviceBuffer<float>::make(problem.rows() * shape.d_latent));
  buffers.lse = TRY(DeviceBuffer<float>::make(problem.rows()));
  buffers.partial_output = TRY(DeviceBuffer<float>::make(slot_rows * shape.d_latent));
  buffers.partial_lse = TRY(DeviceBuffer<float>::make(slot_rows));
  const auto used_on_host = used_slots(problem);
  const auto used = TRY(DeviceBuffer<std::int32_t>::copy_of(used_on_host, stream));
  CUDA_TRY(fill_query(buffers.query.data(), buffers.query.count(), problem.seed, stream));
  CUDA_TRY(fill_cache(buffers.cache.data(), used.data(), problem.page_count, problem.page_tokens,
                      shape.d_qk(), problem.seed, stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  return buffers;
}

}  // namespace headsplit::kernels::portable

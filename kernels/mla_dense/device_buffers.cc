#include "kernels/mla_dense/device_buffers.h"

#include <algorithm>
#include <array>
#include <span>

#include "kernels/mla_dense/device_fill.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels::dense {

namespace {

/// The cache in its type.  used, source_pages: [page_count] on the device.
cudaError_t fill(const Buffers& buffers, const Problem& inputs, const std::int32_t* used,
                 const std::int32_t* source_pages, cudaStream_t stream) {
  const RankProblem& shape = inputs.shape;
  auto* const bytes = reinterpret_cast<unsigned char*>(buffers.cache.data());
  switch (shape.kv_dtype) {
    case KvDtype::fp8:
      return fill_fp8_cache(bytes, used, inputs.page_count, inputs.page_tokens, shape.d_latent,
                            shape.d_rope, inputs.seed, stream, source_pages);
    case KvDtype::fp8_tensor:
      return fill_fp8_tensor_cache(bytes, used, inputs.page_count, inputs.page_tokens, shape.d_qk(),
                                   inputs.seed, stream, source_pages);
    case KvDtype::bf16: break;
  }
  return fill_cache(buffers.cache.data(), used, inputs.page_count, inputs.page_tokens, shape.d_qk(),
                    inputs.seed, stream, source_pages);
}

/// Of e4m3 values, two as one of 16 bits.
Result<CUtensorMap> map_of(const Buffers& buffers, const Problem& inputs) {
  constexpr int kBoxTokensMost = 64;
  return make_tensor_map({.base = buffers.cache.data(),
                          .sizes = {inputs.shape.d_qk() / 2, inputs.slot_count(), 1, 1},
                          .box = {64, std::min(inputs.page_tokens, kBoxTokensMost), 1, 1}});
}

}  // namespace

Result<void> Buffers::poison(cudaStream_t stream) const {
  TRY(make_nan(output, stream));
  for (const auto* buffer : {&lse, &partial_output, &partial_lse, &scratch}) {
    TRY(make_nan(*buffer, stream));
  }
  return {};
}

Result<Buffers> make_buffers(const Problem& problem, const Problem& inputs, const SplitPlan& plan,
                             cudaStream_t stream, DevicePool* pool) {
  const RankProblem& shape = inputs.shape;
  const std::int64_t slot_rows = std::int64_t{1} * plan.slot_count * plan.tile_rows;
  Buffers buffers;
  buffers.query = TRY(DeviceBuffer<std::uint16_t>::make(problem.rows() * shape.d_qk(), pool));
  buffers.cache = TRY(
      DeviceBuffer<std::uint16_t>::make(inputs.slot_count() * cache_row_bytes(shape) / 2, pool));
  buffers.page_table = TRY(DeviceBuffer<std::int32_t>::copy_of(problem.page_table, stream, pool));
  const auto ends = split::attended_tokens(problem);
  buffers.ends = TRY(DeviceBuffer<std::int32_t>::copy_of(ends, stream, pool));
  buffers.items = TRY(DeviceBuffer<WorkItem>::copy_of(plan.items, stream, pool));
  buffers.item_begin = TRY(DeviceBuffer<std::int32_t>::copy_of(plan.item_begin, stream, pool));
  buffers.merges = TRY(DeviceBuffer<MergeItem>::copy_of(plan.merges, stream, pool));
  buffers.output = TRY(DeviceBuffer<std::uint16_t>::make(problem.rows() * shape.d_latent, pool));
  buffers.lse = TRY(DeviceBuffer<float>::make(problem.rows(), pool));
  buffers.partial_output = TRY(DeviceBuffer<float>::make(slot_rows * shape.d_latent, pool));
  buffers.partial_lse = TRY(DeviceBuffer<float>::make(slot_rows, pool));
  buffers.sinks = TRY(DeviceBuffer<float>::copy_of(problem.sinks, stream, pool));
  const auto used_on_host = split::used_slots(inputs);
  const auto used = TRY(DeviceBuffer<std::int32_t>::copy_of(used_on_host, stream, pool));
  const QuerySource source{.local_heads = shape.local_heads,
                           .query_tokens = shape.query_tokens,
                           .d_qk = shape.d_qk(),
                           .heads = inputs.source.heads,
                           .first_head = inputs.source.first_head,
                           .first_request = inputs.source.first_request};
  const auto source_pages =
      TRY(DeviceBuffer<std::int32_t>::copy_of(inputs.source.pages, stream, pool));
  CUDA_TRY(fill_query(buffers.query.data(), buffers.query.count(), inputs.seed, stream, source));
  CUDA_TRY(fill(buffers, inputs, used.data(), source_pages.data(), stream));
  if (shape.kv_dtype == KvDtype::fp8_tensor) {
    const CUtensorMap map = TRY(map_of(buffers, inputs));
    buffers.cache_map = TRY(DeviceBuffer<CUtensorMap>::copy_of(std::span(&map, 1), stream, pool));
  }
  const auto policies = TRY(DeviceBuffer<std::uint64_t>::make(2, pool));
  std::array<std::uint64_t, 2> made = {};
  CUDA_TRY(make_policies(policies.data(), stream));
  CUDA_TRY(
      cudaMemcpyAsync(made.data(), policies.data(), sizeof made, cudaMemcpyDeviceToHost, stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  buffers.first_to_go = made[0];
  buffers.as_usual = made[1];
  return buffers;
}

}  // namespace headsplit::kernels::dense

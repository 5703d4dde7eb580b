#include "kernels/kv_expand/expand_buffers.h"

#include "kernels/device/lt_matmul.h"
#include "kernels/kv_expand/device_expand.h"
#include "kernels/mla_dense/device_fill.h"
#include "kernels/split/sequences.h"

namespace headsplit::kernels::expand {
namespace {

/// Both matrices: heads of a share are neighbours in the whole problem's.
Result<void> fill_both(const Problem& problem, std::uint16_t* weights, cudaStream_t stream) {
  const RankProblem& shape = problem.shape;
  const bool whole = problem.source.heads == 0;
  const std::int64_t whole_heads = whole ? shape.local_heads : problem.source.heads;
  const std::int64_t first_head = whole ? 0 : problem.source.first_head;
  const std::int64_t key_rows = std::int64_t{shape.local_heads} * shape.d_nope;
  const std::int64_t value_rows = std::int64_t{shape.local_heads} * shape.d_v;
  CUDA_TRY(fill_weights(weights, key_rows, first_head * shape.d_nope, shape.d_latent, problem.seed,
                        stream));
  CUDA_TRY(fill_weights(weights + key_rows * shape.d_latent, value_rows,
                        whole_heads * shape.d_nope + first_head * shape.d_v, shape.d_latent,
                        problem.seed, stream));
  return {};
}

}  // namespace

Result<Buffers> make_buffers(const Problem& problem, int chunk_pages, cudaStream_t stream,
                             DevicePool* pool) {
  const RankProblem& shape = problem.shape;
  const std::int64_t heads = shape.local_heads;
  const std::int64_t slots = std::int64_t{problem.page_count} * problem.page_tokens;
  const std::int64_t product_width = heads * (shape.d_nope + shape.d_v);
  const auto bf16 = [pool](std::int64_t count) {
    return DeviceBuffer<std::uint16_t>::make(count, pool);
  };
  Buffers buffers;
  buffers.latents = TRY(bf16(slots * shape.d_qk()));
  buffers.weights = TRY(bf16(product_width * shape.d_latent));
  buffers.products = TRY(bf16(std::int64_t{chunk_pages} * problem.page_tokens * product_width));
  buffers.keys = TRY(bf16(slots * heads * (shape.d_nope + shape.d_rope)));
  buffers.values = TRY(bf16(slots * heads * shape.d_v));
  buffers.workspace = TRY(
      DeviceBuffer<std::uint8_t>::make(static_cast<std::int64_t>(LtMatmul::kWorkspaceBytes), pool));
  const auto used_on_host = split::used_slots(problem);
  const auto used = TRY(DeviceBuffer<std::int32_t>::copy_of(used_on_host, stream, pool));
  const auto source_pages =
      TRY(DeviceBuffer<std::int32_t>::copy_of(problem.source.pages, stream, pool));
  CUDA_TRY(dense::fill_cache(buffers.latents.data(), used.data(), problem.page_count,
                             problem.page_tokens, shape.d_qk(), problem.seed, stream,
                             source_pages.data()));
  TRY(fill_both(problem, buffers.weights.data(), stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  return buffers;
}

}  // namespace headsplit::kernels::expand

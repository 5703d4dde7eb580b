#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::kernels {

/// One output row of the reference, with what it attends to.
struct ReferenceTask {
  std::int64_t row = 0;         ///< whose query it is, of [batch, query_tokens, heads] of the whole
  std::int64_t first_page = 0;  ///< of its request, into the page table
  std::int32_t tokens = 0;      ///< that it attends to
  std::int32_t kv_head = 0;     ///< that it reads, of the whole; per_head only
};

struct ReferenceArguments {
  const ReferenceTask* tasks = nullptr;      ///< [task_count]
  const std::int32_t* page_table = nullptr;  ///< pages of the whole
  double* scores = nullptr;                  ///< [task_count, tokens_max]
  double* lse = nullptr;                     ///< [task_count]
  double* parts = nullptr;                   ///< [task_count, chunks, output_width]
  double* values = nullptr;                  ///< [task_count, output_width]
  std::uint64_t seed = 0;
  double softmax_scale = 1;
  std::int32_t task_count = 0;
  std::int32_t tokens_max = 0;  ///< of all tasks; at least 1
  std::int32_t page_tokens = 0;
  std::int32_t query_width = 0;
  std::int32_t output_width = 0;
  std::int32_t kv_heads = 0;  ///< per_head: of the whole; 0: mla_dense, one latent for all heads
  bool eight_bits = false;    ///< of mla_dense's cache
  bool one_scale = false;     ///< likewise

  /// Tokens whose weighted sum is one entry of `parts`.
  static constexpr int kChunkTokens = 64;
  std::int32_t chunks() const { return (tokens_max + kChunkTokens - 1) / kChunkTokens; }
};

/// Enqueues the reference of all tasks: scores, LSE, sums of chunks, sums.
cudaError_t enqueue_reference(const ReferenceArguments& arguments, cudaStream_t stream);

}  // namespace headsplit::kernels

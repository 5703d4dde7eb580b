#pragma once

#include <cstdint>

#include "kernels/cpu/aligned.h"
#include "kernels/mla_dense/cpu_plan.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// What one worker keeps between tasks: fp32, aligned and padded for the widest vectors.
struct AttendWorkspace {
  explicit AttendWorkspace(const RankProblem& shape);

  int padded_rows = 0;          ///< query rows of a request, rounded up to whole panels
  std::int64_t latent_stride;   ///< floats from one token of `latent` to the next
  std::int64_t output_stride;   ///< floats of `output` for each row
  AlignedArray<float> query;    ///< the request's query rows, packed for the inner loops
  AlignedArray<float> latent;   ///< one tile of the cache
  AlignedArray<float> scores;   ///< scores of one tile, then softmax weights
  AlignedArray<float> output;   ///< sums of weighted latents
  AlignedArray<float> largest;  ///< of each row, the largest score up to here
  AlignedArray<float> sum;      ///< of each row, the sum of weights up to here
  AlignedArray<float> end;      ///< of each row, the first token it does not attend to
  int packed_request = -1;      ///< whose query rows `query` holds
};

/// Inputs and output of one split task.
struct AttendArguments {
  const Problem* problem = nullptr;
  SplitTask task;
  const std::uint16_t* query = nullptr;  ///< bf16 [query_tokens, local_heads, d_qk], this request's
  const std::uint16_t* cache = nullptr;  ///< bf16 [page_count, page_tokens, d_qk]
  float* output = nullptr;               ///< [query_tokens, local_heads, d_latent]
  float* lse = nullptr;                  ///< [query_tokens, local_heads]

  int rows() const { return problem->shape.query_tokens * problem->shape.local_heads; }

  /// The cached token of this request: bf16 [d_qk].
  const std::uint16_t* cache_row(int token) const {
    const int page_tokens = problem->page_tokens;
    const std::int64_t entry =
        std::int64_t{task.request} * problem->pages_per_request + token / page_tokens;
    const std::int64_t page = problem->page_table[static_cast<std::size_t>(entry)];
    return cache + (page * page_tokens + token % page_tokens) * problem->shape.d_qk();
  }
};

/// Attention of all rows of one request over the tokens of one task.
void attend(const AttendArguments& arguments, AttendWorkspace& workspace);

/// Partials of one request and where their combination goes.
struct CombineArguments {
  int rows = 0;
  int d_latent = 0;
  int partial_count = 0;
  const float* partial_output = nullptr;  ///< [partial_count, rows, d_latent]
  const float* partial_lse = nullptr;     ///< [partial_count, rows]
  float* output = nullptr;                ///< [rows, d_latent]
  float* lse = nullptr;                   ///< [rows]
};

/// Weigh each partial by exp(its LSE - the LSE of all).
void combine(const CombineArguments& arguments);

/// How `attend` treats a shape on this machine.
struct AttendShape {
  int rows_at_once = 0;
  int tokens_at_once = 0;
  int padded_rows = 0;  ///< query rows of a request computed for nothing
  const char* loops = "";
  const char* instructions = "";
};
AttendShape attend_shape(const RankProblem& shape);

/// Contexts must be shorter: tokens are counted in fp32 when rows are masked.
constexpr std::int64_t kCpuMostTokens = std::int64_t{1} << 24;

}  // namespace headsplit::kernels

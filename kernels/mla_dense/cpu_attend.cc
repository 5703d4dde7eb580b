#include "kernels/mla_dense/cpu_attend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/bf16.h"

namespace headsplit::kernels {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

const std::uint16_t* cache_row(const AttendArguments& in, int token) {
  const Problem& problem = *in.problem;
  const std::int64_t entry =
      std::int64_t{in.task.request} * problem.pages_per_request + token / problem.page_tokens;
  const std::int64_t page = problem.page_table[static_cast<std::size_t>(entry)];
  const std::int64_t row = page * problem.page_tokens + token % problem.page_tokens;
  return in.cache + row * problem.shape.d_qk();
}

/// One row over the tokens of the task: scores first, then the weighted sum.
void attend_row(const AttendArguments& in, int row, std::vector<float>& scores) {
  const RankProblem& shape = in.problem->shape;
  const int query_token = row / shape.local_heads;
  const int end = std::min(in.task.token_end, in.problem->attended(in.task.request, query_token));
  const std::uint16_t* query = in.query + std::int64_t{row} * shape.d_qk();
  float* output = in.output + std::int64_t{row} * shape.d_latent;
  std::fill_n(output, shape.d_latent, 0.0f);
  in.lse[row] = kNothing;
  if (end <= in.task.token_begin) return;

  scores.clear();
  for (int token = in.task.token_begin; token < end; ++token) {
    const std::uint16_t* key = cache_row(in, token);
    float dot = 0;
    for (int d = 0; d < shape.d_qk(); ++d) dot += bf16_value(query[d]) * bf16_value(key[d]);
    scores.push_back(dot * in.problem->softmax_scale);
  }
  const float largest = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (int token = in.task.token_begin; token < end; ++token) {
    const std::uint16_t* value = cache_row(in, token);
    const float weight =
        std::exp(scores[static_cast<std::size_t>(token - in.task.token_begin)] - largest);
    sum += weight;
    for (int d = 0; d < shape.d_latent; ++d) output[d] += weight * bf16_value(value[d]);
  }
  for (int d = 0; d < shape.d_latent; ++d) output[d] /= sum;
  in.lse[row] = largest + std::log(sum);
}

}  // namespace

void attend(const AttendArguments& arguments) {
  const RankProblem& shape = arguments.problem->shape;
  std::vector<float> scores;
  for (int row = 0; row < shape.query_tokens * shape.local_heads; ++row) {
    attend_row(arguments, row, scores);
  }
}

void combine(const CombineArguments& in) {
  const RankProblem& shape = in.problem->shape;
  const std::int64_t rows = std::int64_t{1} * shape.query_tokens * shape.local_heads;
  for (std::int64_t row = 0; row < rows; ++row) {
    float largest = kNothing;
    for (int i = 0; i < in.partial_count; ++i) {
      largest = std::max(largest, in.partial_lse[i * rows + row]);
    }
    float* output = in.output + row * shape.d_latent;
    std::fill_n(output, shape.d_latent, 0.0f);
    in.lse[row] = kNothing;
    if (largest == kNothing) continue;
    float sum = 0;
    for (int i = 0; i < in.partial_count; ++i) {
      const float weight = std::exp(in.partial_lse[i * rows + row] - largest);
      sum += weight;
      const float* partial = in.partial_output + (i * rows + row) * shape.d_latent;
      for (int d = 0; d < shape.d_latent; ++d) output[d] += weight * partial[d];
    }
    for (int d = 0; d < shape.d_latent; ++d) output[d] /= sum;
    in.lse[row] = largest + std::log(sum);
  }
}

}  // namespace headsplit::kernels

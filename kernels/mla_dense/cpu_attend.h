#pragma once

#include <cstdint>
#include <memory>

#include "kernels/mla_dense/cpu_plan.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// Inputs and output of one split task.
struct AttendArguments {
  const Problem* problem = nullptr;
  SplitTask task;
  const std::uint16_t* query = nullptr;  ///< bf16 [query_tokens, local_heads, d_qk], this request's
  const std::uint16_t* cache = nullptr;  ///< bf16 [page_count, page_tokens, d_qk]
  float* output = nullptr;               ///< [query_tokens, local_heads, d_latent]
  float* lse = nullptr;                  ///< [query_tokens, local_heads]
};

/// Attention of all rows of one request over the tokens of one task.
void attend(const AttendArguments& arguments);

/// Partials of one request and where their combination goes.
struct CombineArguments {
  const Problem* problem = nullptr;
  int partial_count = 0;
  const float* partial_output = nullptr;  ///< [partial_count, rows, d_latent]
  const float* partial_lse = nullptr;     ///< [partial_count, rows]
  float* output = nullptr;                ///< [rows, d_latent]
  float* lse = nullptr;                   ///< [rows]
};

/// Weigh each partial by exp(its LSE - the LSE of all).
void combine(const CombineArguments& arguments);

}  // namespace headsplit::kernels

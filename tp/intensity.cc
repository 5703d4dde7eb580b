#include "tp/intensity.h"

namespace headsplit::tp {
namespace {

/// FLOPs of one query row against one cached token.
double pair_flops(const RankProblem& problem) { return 2.0 * (problem.d_qk() + problem.d_latent); }

double rows(const RankProblem& problem) {
  return static_cast<double>(problem.local_heads) * problem.query_tokens;
}

}  // namespace

double per_head_intensity(int heads, int kv_heads, double value_bytes) {
  return 2 / value_bytes * heads / kv_heads;
}

double mla_intensity_limit(const RankProblem& problem) {
  return rows(problem) * pair_flops(problem) / latent_row_bytes(problem);
}

double mla_intensity(const RankProblem& problem) {
  const auto context = static_cast<double>(problem.context);
  const double flops = rows(problem) * pair_flops(problem);
  return flops * context / (context * latent_row_bytes(problem) + flops);
}

double fixed_traffic_tokens(const RankProblem& problem) {
  // Query and output of a row are D + d_latent values of 2 bytes: as many bytes as a pair has
  // FLOPs.
  return rows(problem) * pair_flops(problem) / latent_row_bytes(problem);
}

double prefill_length_to_reach(double ridge_flop_per_byte, int heads, int kv_heads) {
  return ridge_flop_per_byte * kBf16Bytes / per_head_intensity(heads, kv_heads);
}

double rows_to_reach(double ridge_flop_per_byte, const RankProblem& problem) {
  return ridge_flop_per_byte * latent_row_bytes(problem) / pair_flops(problem);
}

double free_query_tokens(double ridge_flop_per_byte, const RankProblem& problem) {
  return rows_to_reach(ridge_flop_per_byte, problem) / problem.local_heads;
}

}  // namespace headsplit::tp

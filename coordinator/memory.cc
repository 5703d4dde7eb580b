#include "coordinator/memory.h"

#include <array>
#include <cstdio>

namespace headsplit::coordinator {
namespace {

constexpr std::int64_t kPageTokens = 64;
constexpr double kSplitPartials = 256;  // partial outputs beyond one a request
constexpr int kScaleWidth = 128;        // latent values that share one FP8 scale

double cache_row_bytes(const RankProblem& problem) {
  if (problem.kv_dtype == KvDtype::bf16) return 2.0 * problem.d_qk();
  const int scales = (problem.d_latent + kScaleWidth - 1) / kScaleWidth;
  return problem.d_latent + 4.0 * scales + 2.0 * problem.d_rope;
}

}  // namespace

std::int64_t rank_memory_bytes(const RankProblem& problem) {
  const std::int64_t pages = problem.batch * ((problem.context + kPageTokens - 1) / kPageTokens);
  const std::int64_t spare = 1 + pages / 64;
  const double cache = static_cast<double>(pages + spare) * kPageTokens * cache_row_bytes(problem);
  const double rows_a_request = 1.0 * problem.query_tokens * problem.local_heads;
  const double output_row = 4.0 * (problem.d_latent + 1);
  const double outputs = rows_a_request * problem.batch * (2.0 * problem.d_qk() + output_row);
  const double partials = rows_a_request * (problem.batch + kSplitPartials) * output_row;
  return static_cast<std::int64_t>(cache + outputs + partials);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace headsplit::coordinator

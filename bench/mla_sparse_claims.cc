#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "bench/mla_sparse_case.h"

namespace headsplit::bench {
namespace {

using Results = std::vector<MlaSparseResult>;

/// Prints a line; gives whether the limit is kept.
bool at_most(const char* what, double reached, double limit) {
  const bool good = reached <= limit;
  std::printf("# %-58s %8.3f, at most %8.3f: %s\n", what, reached, limit,
              good ? "reached" : "MISSED");
  return good;
}

/// The longest time of the FP8 rows with so many requests and heads, one query token, top_k 2048.
std::optional<double> longest_us(const Results& results, int batch, int local_heads) {
  std::optional<double> longest;
  for (const MlaSparseResult& result : results) {
    const MlaSparseCase& shape = result.shape;
    if (shape.batch != batch || shape.local_heads != local_heads || shape.query_tokens != 1)
      continue;
    if (shape.kv_dtype != KvDtype::fp8 || shape.top_k != 2048) continue;
    longest = std::max(longest.value_or(0), result.time_us);
  }
  return longest;
}

struct TimeClaim {
  const char* what;
  int batch;
  int local_heads;
  double limit_us;
};
constexpr TimeClaim kTimeClaims[] = {{"us, batch 1, 64 heads", 1, 64, 9},
                                     {"us, batch 16, 64 heads", 16, 64, 16},
                                     {"us, batch 64, 16 heads", 64, 16, 34}};

/// Among rows that differ in the context only, longer than top_k: the longest time over the least.
std::optional<double> unevenness(const Results& results) {
  std::optional<double> worst;
  for (const MlaSparseResult& one : results) {
    for (const MlaSparseResult& other : results) {
      MlaSparseCase shape = other.shape;
      shape.context = one.shape.context;
      const bool same = shape.batch == one.shape.batch && shape.top_k == one.shape.top_k &&
                        shape.query_tokens == one.shape.query_tokens &&
                        shape.local_heads == one.shape.local_heads &&
                        shape.kv_dtype == one.shape.kv_dtype;
      if (same && one.shape.context != other.shape.context) {
        worst = std::max(worst.value_or(1), one.time_us / other.time_us);
      }
    }
  }
  return worst;
}

}  // namespace

bool judge_mla_sparse(const Results& results) {
  double log_sum = 0;
  double worst = 0;
  int compared = 0;
  for (const MlaSparseResult& result : results) {
    if (result.shape.peer_us <= 0) continue;
    log_sum += std::log(result.ratio());
    worst = std::max(worst, result.ratio());
    ++compared;
  }
  bool all = true;
  if (compared > 0) {
    all &= at_most("time / peer's time, geometric mean", std::exp(log_sum / compared), 0.65);
    all &= at_most("time / peer's time, worst row", worst, 1);
  }
  for (const TimeClaim& claim : kTimeClaims) {
    const auto reached = longest_us(results, claim.batch, claim.local_heads);
    if (reached) all &= at_most(claim.what, *reached, claim.limit_us);
  }
  const auto uneven = unevenness(results);
  if (uneven) all &= at_most("longest over least time along the context", *uneven, 1.05);
  return all;
}

}  // namespace headsplit::bench

#include "tp/mixed_cost.h"

#include <array>

#include "core/check.h"

namespace headsplit::tp {
namespace {

struct Letters {
  double b, h, s, o, n, t, d_k, d_v, k, p;
};

Letters letters(const RankProblem& problem, std::int64_t expanded_tokens) {
  CHECK(expanded_tokens >= 0 && expanded_tokens <= problem.context);
  const auto n = static_cast<double>(expanded_tokens);
  // Ragged batches keep the same shares of their summed length.
  const double t = length_sum(problem) / problem.batch;
  const double share = n / static_cast<double>(problem.context);
  return {.b = 1.0 * problem.batch,
          .h = 1.0 * problem.local_heads,
          .s = 1.0 * problem.query_tokens,
          .o = t * (1 - share),
          .n = t * share,
          .t = t,
          .d_k = 1.0 * problem.d_nope,
          .d_v = 1.0 * problem.d_v,
          .k = 1.0 * problem.d_latent,
          .p = 1.0 * problem.d_rope};
}

double sum(const std::vector<CostTerm>& terms) {
  double total = 0;
  for (const auto& term : terms) total += term.value;
  return total;
}

}  // namespace

std::vector<CostTerm> mixed_flop_terms(const RankProblem& problem, std::int64_t expanded_tokens) {
  const Letters a = letters(problem, expanded_tokens);
  std::vector<CostTerm> terms = {{"2bhstp", 2 * a.b * a.h * a.s * a.t * a.p}};
  if (a.n > 0) terms.push_back({"4bhsnd", 2 * a.b * a.h * a.s * a.n * (a.d_k + a.d_v)});
  if (a.o > 0) terms.push_back({"4bhsok", 4 * a.b * a.h * a.s * a.o * a.k});
  return terms;
}

std::vector<CostTerm> mixed_byte_terms(const RankProblem& problem, std::int64_t expanded_tokens) {
  constexpr double w = kBf16Bytes;
  const Letters a = letters(problem, expanded_tokens);
  const double rows = a.b * a.h * a.s;
  std::vector<CostTerm> terms = {{"w bhsp (query, RoPE part)", w * rows * a.p},
                                 {"w btp (RoPE keys)", w * a.b * a.t * a.p}};
  if (a.n > 0) {
    terms.push_back({"w bhsd (query for expanded K)", w * rows * a.d_k});
    terms.push_back({"w bhnd (K)", w * a.b * a.h * a.n * a.d_k});
    terms.push_back({"w bhnd (V)", w * a.b * a.h * a.n * a.d_v});
    terms.push_back({"w bhsd (output of the expanded part)", w * rows * a.d_v});
  }
  if (a.o > 0) {
    terms.push_back({"w bhsk (query for the latent)", w * rows * a.k});
    terms.push_back({"w bok (latents)", w * a.b * a.o * a.k});
    terms.push_back({"w bhsk (output of the latent part)", w * rows * a.k});
  }
  return terms;
}

Work mla_mixed_work(const RankProblem& problem, std::int64_t expanded_tokens) {
  const Letters a = letters(problem, expanded_tokens);
  const double history = a.b * (a.o * a.k + a.t * a.p + a.h * a.n * (a.d_k + a.d_v)) * kBf16Bytes;
  const double bytes = sum(mixed_byte_terms(problem, expanded_tokens));
  return {.flops = sum(mixed_flop_terms(problem, expanded_tokens)),
          .kv_bytes = history,
          .qo_bytes = bytes - history,
          .kv_memory_bytes = history};
}

MixedChoice best_mixed(const RankProblem& problem, const Rates& rates) {
  const auto time_us = [&](std::int64_t n) {
    return roofline(mla_mixed_work(problem, n), rates).time_us;
  };
  const auto memory_bound = [&](std::int64_t n) {
    const Roofline line = roofline(mla_mixed_work(problem, n), rates);
    return line.memory_us >= line.tensor_us;
  };
  // Between the ends bytes rise and FLOPs fall with n: the first n that is memory-bound crosses.
  std::int64_t low = 1;
  std::int64_t high = problem.context;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (memory_bound(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  MixedChoice best{.expanded_tokens = 0, .time_us = time_us(0)};
  for (const std::int64_t n : std::array{low - 1, low, problem.context}) {
    const double candidate_us = time_us(n);
    if (candidate_us < best.time_us) best = {.expanded_tokens = n, .time_us = candidate_us};
  }
  return best;
}

}  // namespace headsplit::tp

#include "kernels/mla_dense/cpu_plan.h"

#include <algorithm>
#include <string>

#include "kernels/mla_dense/cpu_attend.h"

namespace headsplit::kernels {
namespace {

int ceil_div(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

/// Pieces of kCpuSplitTokens that a context has.
int pieces_of(int tokens) { return ceil_div(tokens, kCpuSplitTokens); }

/// Parts that the whole batch should be cut into: several for each worker, so that one that is
/// slowed down does not hold up the launch, but not so many on large machines that partial results
/// outgrow the cache that is read.
int parts_wanted(int threads) {
  if (threads == 1) return 1;
  return std::clamp(256, 2 * threads, 8 * threads);
}

/// Most pieces a part should have.
int pieces_a_part(const Problem& problem, int threads) {
  std::int64_t pieces = 0;
  for (const int length : problem.lengths) pieces += pieces_of(length);
  return std::max(1, ceil_div(pieces, parts_wanted(threads)));
}

/// Cut one request into `parts` nearly equal runs of pieces.
void add_request(CpuPlan& plan, int request, int length, int parts) {
  const int pieces = pieces_of(length);
  parts = std::clamp(parts, 1, std::max(1, pieces));
  const int first_partial = plan.partial_count;
  for (int part = 0; part < parts; ++part) {
    const auto edge = [&](std::int64_t i) {
      return std::min(length, static_cast<int>(pieces * i / parts) * kCpuSplitTokens);
    };
    plan.splits.push_back(SplitTask{.request = request,
                                    .token_begin = edge(part),
                                    .token_end = edge(part + 1),
                                    .partial = parts == 1 ? -1 : plan.partial_count++});
  }
  if (parts > 1) plan.combines.push_back(CombineTask{request, first_partial, parts});
  plan.config.num_splits = std::max(plan.config.num_splits, parts);
}

}  // namespace

CpuPlan plan_cpu(const Problem& problem, int threads, int num_splits) {
  CpuPlan plan;
  const int part_pieces = pieces_a_part(problem, threads);
  for (int request = 0; request < problem.shape.batch; ++request) {
    const int length = problem.lengths[static_cast<std::size_t>(request)];
    const int parts = num_splits > 0 ? num_splits : ceil_div(pieces_of(length), part_pieces);
    add_request(plan, request, length, parts);
  }
  // The longest first, so that the last ones to be taken are short.
  std::stable_sort(plan.splits.begin(), plan.splits.end(), [](const auto& a, const auto& b) {
    return a.token_end - a.token_begin > b.token_end - b.token_begin;
  });
  const AttendShape attend = attend_shape(problem.shape);
  plan.config.tile_rows = attend.rows_at_once;
  plan.config.tile_tokens = attend.tokens_at_once;
  plan.config.padded_rows = attend.padded_rows;
  plan.config.workers = threads;
  const std::string parts = num_splits > 0
                                ? str("parts a request fixed at ", num_splits)
                                : str(plan.splits.size(), " parts for ", threads, " threads");
  plan.config.reason = str(parts, "; ", attend.loops, " on ", attend.instructions);
  return plan;
}

}  // namespace headsplit::kernels

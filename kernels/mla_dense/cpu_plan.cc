#include "kernels/mla_dense/cpu_plan.h"

#include <algorithm>

namespace headsplit::kernels {
namespace {

/// Parts a worker should find on average, so that one that is slowed down does not hold up the
/// launch.
constexpr int kTasksAWorker = 4;
/// Shorter parts than this are not worth their partial.
constexpr int kShortestSplitTiles = 4;

int ceil_div(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

int tiles_of(int tokens) { return ceil_div(tokens, kCpuTileTokens); }

/// Tiles that a part should have, so that all workers are busy.
int tiles_a_split(const Problem& problem, int threads) {
  std::int64_t tiles = 0;
  for (const int length : problem.lengths) tiles += tiles_of(length);
  if (threads == 1)
    return std::max<int>(1, static_cast<int>(std::min<std::int64_t>(tiles, 1 << 30)));
  return std::max(kShortestSplitTiles, ceil_div(tiles, std::int64_t{1} * threads * kTasksAWorker));
}

/// Cut one request into `parts` nearly equal runs of tiles.
void add_request(CpuPlan& plan, int request, int length, int parts) {
  const int tiles = tiles_of(length);
  parts = std::clamp(parts, 1, std::max(1, tiles));
  const int first_partial = plan.partial_count;
  for (int part = 0; part < parts; ++part) {
    const auto edge = [&](std::int64_t i) {
      return std::min(length, static_cast<int>(tiles * i / parts) * kCpuTileTokens);
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
  const int split_tiles = tiles_a_split(problem, threads);
  for (int request = 0; request < problem.shape.batch; ++request) {
    const int length = problem.lengths[static_cast<std::size_t>(request)];
    const int parts = num_splits > 0 ? num_splits : ceil_div(tiles_of(length), split_tiles);
    add_request(plan, request, length, parts);
  }
  std::stable_sort(plan.splits.begin(), plan.splits.end(), [](const auto& a, const auto& b) {
    return a.token_end - a.token_begin > b.token_end - b.token_begin;
  });
  plan.config.tile_rows = problem.shape.query_tokens * problem.shape.local_heads;
  plan.config.tile_tokens = kCpuTileTokens;
  plan.config.workers = threads;
  plan.config.reason = num_splits > 0
                           ? str("parts a request fixed at ", num_splits)
                           : str("parts of at most ", split_tiles * kCpuTileTokens, " tokens, ",
                                 plan.splits.size(), " in all, for ", threads, " threads");
  return plan;
}

}  // namespace headsplit::kernels

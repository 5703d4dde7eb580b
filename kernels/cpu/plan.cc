#include "kernels/cpu/plan.h"

#include <algorithm>
#include <string>

#include "kernels/cpu/attend.h"

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

/// The items in order, and how many tokens the last row of each attends to.
struct Items {
  std::vector<WorkItem> items;
  std::vector<int> tokens;
};

int most_attended(const Problem& problem, const WorkItem& item) {
  int most = 0;
  for (int token = item.query_begin; token < item.query_end; ++token) {
    most = std::max(most, problem.attended(item.request, token));
  }
  return most;
}

Items items_of(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  const int step = cpu_item_tokens(shape);
  Items found;
  for (int request = 0; request < shape.batch; ++request) {
    for (int kv_head = 0; kv_head < cpu_kv_heads(shape); ++kv_head) {
      for (int begin = 0; begin < shape.query_tokens; begin += step) {
        found.items.push_back(WorkItem{.index = static_cast<int>(found.items.size()),
                                       .request = request,
                                       .kv_head = kv_head,
                                       .query_begin = begin,
                                       .query_end = std::min(begin + step, shape.query_tokens)});
        found.tokens.push_back(most_attended(problem, found.items.back()));
      }
    }
  }
  return found;
}

/// Most pieces a part should have.
int pieces_a_part(const Items& items, int threads) {
  std::int64_t pieces = 0;
  for (const int tokens : items.tokens) pieces += pieces_of(tokens);
  return std::max(1, ceil_div(pieces, parts_wanted(threads)));
}

/// Cut one item into `parts` nearly equal runs of pieces.
void add_item(CpuPlan& plan, const WorkItem& item, int tokens, int parts, std::int64_t rows) {
  const int pieces = pieces_of(tokens);
  parts = std::clamp(parts, 1, std::max(1, pieces));
  if (parts > 1) plan.combines.push_back(CombineTask{item, plan.partial_rows, parts});
  for (int part = 0; part < parts; ++part) {
    const auto edge = [&](std::int64_t i) {
      return std::min(tokens, static_cast<int>(pieces * i / parts) * kCpuSplitTokens);
    };
    plan.splits.push_back(SplitTask{.item = item,
                                    .token_begin = edge(part),
                                    .token_end = edge(part + 1),
                                    .partial_row = parts == 1 ? -1 : plan.partial_rows});
    if (parts > 1) plan.partial_rows += rows;
  }
  plan.config.num_splits = std::max(plan.config.num_splits, parts);
}

/// Products of a task, up to a factor.
std::int64_t cost(const SplitTask& task) {
  return std::int64_t{task.token_end - task.token_begin} *
         (task.item.query_end - task.item.query_begin);
}

}  // namespace

int cpu_kv_heads(const RankProblem& shape) {
  return shape.family == Family::per_head ? shape.kv_heads : 1;
}

int cpu_item_tokens(const RankProblem& shape) {
  const int group = shape.local_heads / cpu_kv_heads(shape);
  return std::clamp(kCpuItemRows / group, 1, shape.query_tokens);
}

CpuPlan plan_cpu(const Problem& problem, int threads, int num_splits) {
  CpuPlan plan;
  const Items items = items_of(problem);
  const int part_pieces = pieces_a_part(items, threads);
  const int group = problem.shape.local_heads / cpu_kv_heads(problem.shape);
  for (std::size_t i = 0; i < items.items.size(); ++i) {
    const WorkItem& item = items.items[i];
    const int tokens = items.tokens[i];
    const int parts = num_splits > 0 ? num_splits : ceil_div(pieces_of(tokens), part_pieces);
    add_item(plan, item, tokens, parts, std::int64_t{group} * (item.query_end - item.query_begin));
  }
  // The longest first, so that the last ones to be taken are short.
  std::stable_sort(plan.splits.begin(), plan.splits.end(),
                   [](const auto& a, const auto& b) { return cost(a) > cost(b); });
  const AttendShape attend = attend_shape(attend_sizes(problem.shape));
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

#include "tp/layout_cost.h"

#include "tp/mixed_cost.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

struct RankCost {
  Work work;
  Estimate time;
};

Result<RankCost> rank_cost(const Model& model, const Point& point, const TimeModel& times,
                           CostOptions options) {
  options.expanded_tokens = expanded_tokens_for(model, point, times.rates());
  const Work work = TRY(kernel_work(model, point, options));
  const RankProblem problem = TRY(rank_problem(model, point));
  return RankCost{work, times.estimate(point.kernel, problem, work)};
}

/// Memory of all tp ranks that share one part of the cache, over what one rank alone would keep.
Result<double> duplication(const Model& model, Point point, const TimeModel& times,
                           const RankCost& alone) {
  point.layout.dp = 1;
  point.layout.cp = 1;
  const RankCost split = TRY(rank_cost(model, point, times, {}));
  if (alone.work.kv_memory_bytes == 0) return 1.0;
  return split.work.kv_memory_bytes * point.layout.tp / alone.work.kv_memory_bytes;
}

LayoutRow row_from(const Model& model, const Layout& layout, const RankCost& rank,
                   const RankCost& alone) {
  LayoutRow row{.layout = layout_name(layout), .local_heads = model.heads / layout.tp};
  row.flops = rank.work.flops;
  row.hbm_bytes = rank.work.hbm_bytes();
  row.kv_bytes = rank.work.kv_bytes;
  row.qo_bytes = rank.work.qo_bytes;
  row.kv_memory_bytes_per_layer = rank.work.kv_memory_bytes;
  row.intensity_flop_per_byte = rank.work.intensity();
  row.time_us = rank.time.time_us;
  row.limiter = rank.time.limiter;
  row.speedup = alone.time.time_us / rank.time.time_us;
  row.tp_efficiency = row.speedup / layout.ranks();
  row.reuse_retained = rank.work.intensity() / alone.work.intensity();
  return row;
}

}  // namespace

std::int64_t expanded_tokens_for(const Model& model, const Point& point, const Rates& rates) {
  if (point.kernel != "mla_mixed") return 0;
  const auto problem = rank_problem(model, point);
  if (!problem) return 0;  // kernel_work says what is wrong
  return best_mixed(problem.value(), rates).expanded_tokens * point.layout.cp;
}

Result<std::vector<LayoutRow>> layout_rows(const Model& model, const Point& point,
                                           const std::vector<Layout>& layouts,
                                           const TimeModel& times, const CostOptions& options) {
  Point one_rank = point;
  one_rank.layout = {};
  const RankCost alone = TRY(rank_cost(model, one_rank, times, options));
  std::vector<LayoutRow> rows;
  for (const auto& layout : layouts) {
    Point split = point;
    split.layout = layout;
    const RankCost rank = TRY(rank_cost(model, split, times, options));
    LayoutRow row = row_from(model, layout, rank, alone);
    row.kv_duplication = TRY(duplication(model, split, times, alone));
    rows.push_back(std::move(row));
  }
  return rows;
}

int padded_rows(int local_heads, int query_tokens, int tile_rows) {
  const int rows = local_heads * query_tokens;
  return (rows + tile_rows - 1) / tile_rows * tile_rows - rows;
}

}  // namespace headsplit::tp

#include "kernels/split/split_plan.h"

#include <algorithm>
#include <cmath>

namespace headsplit::kernels::split {
namespace {

/// Shorter runs than this are not worth their partial.
constexpr int kShortestRunTokens = 64;
/// More row tiles than this side by side gain nothing: L2 is read that many times already.
constexpr int kWidthMax = 8;
/// Efficiency that may be given up for one reader more of a tile that is in L2.
constexpr double kWidthWorth = 0.96;
/// Plans with more runs a column than this are not looked at.
constexpr int kRunsAColumnMax = 3;

int ceil_div(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

/// Row tiles side by side: as many as keep nearly all CTAs at work.
int choose_width(int row_tiles, int ctas) {
  const auto efficiency = [&](int width) {
    const double filled = double(row_tiles) / (ceil_div(row_tiles, width) * width);
    return filled * (ctas / width * width) / ctas;
  };
  const int width_max = std::min({row_tiles, kWidthMax, ctas});
  double best = 0;
  for (int width = 1; width <= width_max; ++width) best = std::max(best, efficiency(width));
  for (int width = width_max; width > 1; --width) {
    if (efficiency(width) >= kWidthWorth * best) return width;
  }
  return 1;
}

/// Tokens of a sequence that some of its rows attend to.
std::int32_t tokens_of(const Sequences& sequences, int sequence, int row_begin, int row_count) {
  const std::int32_t length = sequences.lengths[static_cast<std::size_t>(sequence)];
  if (!sequences.attended) return length;
  return std::min(length, sequences.attended(sequence, row_begin, row_count));
}

std::vector<Unit> units_of(const Sequences& sequences, const SplitPlan& plan, int tile_tokens) {
  std::vector<Unit> units;
  const int pass_rows = plan.width * plan.tile_rows;
  const int passes = ceil_div(plan.row_tiles, plan.width);
  for (int sequence = 0; sequence < static_cast<int>(sequences.lengths.size()); ++sequence) {
    for (int pass = 0; pass < passes; ++pass) {
      const int row_begin = pass * pass_rows;
      const int rows = std::min(pass_rows, sequences.packed_rows - row_begin);
      const auto tokens = tokens_of(sequences, sequence, row_begin, rows);
      units.push_back(Unit{sequence, pass, ceil_div(tokens, tile_tokens), {}});
    }
  }
  return units;
}

/// The plans that are compared, and what each of them costs.
class Candidates {
 public:
  Candidates(const Sequences& sequences, const PlanRequest& request, const SplitPlan& plan)
      : cost_(request.cost),
        columns_(request.ctas / plan.width),
        alone_ctas_(request.ctas_per_sm > 1 ? request.ctas / request.ctas_per_sm : 0),
        width_(plan.width),
        units_(units_of(sequences, plan, request.tile_tokens)),
        shortest_(std::max(1, kShortestRunTokens / request.tile_tokens)),
        item_steps_(std::max(1, static_cast<int>(std::lround(cost_.item_us / cost_.step_us)))),
        step_bytes_(request.tile_tokens * sequences.token_bytes),
        partial_bytes_(2.0 * 4 * plan.width * plan.tile_rows * sequences.output_width) {}

  std::vector<Unit> fixed(int num_splits) {
    share_in_count(units_, columns_, num_splits, item_steps_);
    return units_;
  }

  std::vector<Unit> cheapest() {
    int longest = 1;
    for (const Unit& unit : units_) longest = std::max(longest, unit.steps);
    for (int splits = 1; splits == 1 || longest / splits >= shortest_; ++splits) {
      share_in_runs(units_, columns_, ceil_div(longest, splits), item_steps_);
      if (consider() > kRunsAColumnMax * columns_) break;
    }
    share_in_order(units_, columns_, item_steps_, shortest_);
    consider();
    return best_;
  }

  /// From the first CTA's start to the end of the combine kernel.
  double estimate_us(const std::vector<Unit>& units) const {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(columns_));
    std::vector<int> items(static_cast<std::size_t>(columns_));
    double partials = 0;
    for (const Unit& unit : units) {
      if (unit.runs.size() > 1) partials += double(unit.runs.size());
      for (const Run& run : unit.runs) {
        steps[static_cast<std::size_t>(run.column)] += run.steps();
        ++items[static_cast<std::size_t>(run.column)];
      }
    }
    const auto busy = columns_ - std::count(steps.begin(), steps.end(), 0);
    const bool alone = cost_.alone_step_us > 0 && busy * width_ <= alone_ctas_;
    const double step_us = std::max({alone ? cost_.alone_step_us : cost_.step_us,
                                     double(busy) * step_bytes_ / cost_.cache_bytes_per_us,
                                     double(busy) * width_ * step_bytes_ / cost_.l2_bytes_per_us});
    double slowest_us = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      slowest_us = std::max(slowest_us, items[i] * cost_.item_us + double(steps[i]) * step_us);
    }
    slowest_us += cost_.start_us;
    if (partials == 0) return slowest_us;
    return slowest_us + cost_.merge_us + partials * partial_bytes_ / cost_.partial_bytes_per_us;
  }

 private:
  /// Keeps the units as they are shared now, if that is the cheapest so far.  Gives their runs.
  int consider() {
    const double us = estimate_us(units_);
    if (best_.empty() || us < best_us_) {
      best_ = units_;
      best_us_ = us;
    }
    std::size_t runs = 0;
    for (const Unit& unit : units_) runs += unit.runs.size();
    return static_cast<int>(runs);
  }

  PlanCost cost_;
  int columns_;
  int alone_ctas_;  ///< so many have an SM each to themselves
  int width_;
  std::vector<Unit> units_;
  int shortest_;
  int item_steps_;
  double step_bytes_;
  double partial_bytes_;  ///< of one run, written and read
  std::vector<Unit> best_;
  double best_us_ = 0;
};

/// Whole requests first, then parts, the longest first: partials are written late, and the queries
/// of a request that several CTAs share are read at about the same time, so that both are still in
/// L2 when they are read again.
void put_parts_last(std::vector<WorkItem>& items) {
  const auto first_part = std::stable_partition(items.begin(), items.end(),
                                                [](const WorkItem& item) { return item.slot < 0; });
  std::stable_sort(first_part, items.end(), [](const WorkItem& a, const WorkItem& b) {
    return a.token_end - a.token_begin > b.token_end - b.token_begin;
  });
}

/// Gives the items of the units to the CTAs, and slots to those that are runs.
void assign(SplitPlan& plan, const Sequences& sequences, const std::vector<Unit>& units,
            int tile_tokens) {
  const int packed_rows = sequences.packed_rows;
  int columns = 1;
  for (const Unit& unit : units) {
    for (const Run& run : unit.runs) columns = std::max(columns, run.column + 1);
  }
  std::vector<std::vector<WorkItem>> of_cta(static_cast<std::size_t>(columns * plan.width));
  for (const Unit& unit : units) {
    const int count = static_cast<int>(unit.runs.size());
    plan.num_splits = std::max(plan.num_splits, count);
    for (int j = 0; j < plan.width; ++j) {
      const int row_begin = (unit.pass * plan.width + j) * plan.tile_rows;
      if (row_begin >= packed_rows) break;
      const int row_count = std::min(plan.tile_rows, packed_rows - row_begin);
      const int tokens = tokens_of(sequences, unit.request, row_begin, row_count);
      if (count > 1) {
        plan.merges.push_back(
            MergeItem{unit.request, row_begin, row_count, plan.slot_count, count});
      }
      for (const Run& run : unit.runs) {
        of_cta[static_cast<std::size_t>(run.column * plan.width + j)].push_back(
            WorkItem{.request = unit.request,
                     .row_begin = row_begin,
                     .row_count = row_count,
                     .token_begin = std::min(tokens, run.step_begin * tile_tokens),
                     .token_end = std::min(tokens, run.step_end * tile_tokens),
                     .slot = count > 1 ? plan.slot_count++ : -1});
      }
    }
  }
  plan.item_begin.push_back(0);
  for (auto& items : of_cta) {
    put_parts_last(items);
    plan.items.insert(plan.items.end(), items.begin(), items.end());
    plan.item_begin.push_back(static_cast<std::int32_t>(plan.items.size()));
  }
}

}  // namespace

bool SplitPlan::one_item_each() const {
  for (std::size_t cta = 0; cta < item_begin.size(); ++cta) {
    if (item_begin[cta] != static_cast<int>(cta)) return false;
  }
  return true;
}

SplitPlan plan_splits(const Problem& problem, const PlanRequest& request) {
  const Sequences sequences = sequences_of(problem);
  const int packed_rows = sequences.packed_rows;
  const int blocks = ceil_div(packed_rows, request.row_step);
  const int tiles = ceil_div(blocks, request.rows_max / request.row_step);
  SplitPlan plan;
  plan.tile_rows = request.row_step * ceil_div(blocks, tiles);
  plan.row_tiles = ceil_div(packed_rows, plan.tile_rows);
  plan.width = choose_width(plan.row_tiles, request.ctas);
  Candidates candidates(sequences, request, plan);
  const auto units =
      request.num_splits > 0 ? candidates.fixed(request.num_splits) : candidates.cheapest();
  plan.estimated_us = candidates.estimate_us(units);
  assign(plan, sequences, units, request.tile_tokens);
  return plan;
}

}  // namespace headsplit::kernels::split

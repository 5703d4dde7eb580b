#include "kernels/mla_dense/portable_plan.h"

#include <algorithm>

#include "kernels/mla_dense/portable_shape.h"

namespace headsplit::kernels::portable {
namespace {

constexpr int kBlockRows = TileShape::kBlockRows;
/// Loading the queries and writing the output cost about as much as this many tokens.
constexpr int kItemOverheadTokens = 64;
/// Shorter parts than this are not worth their partial.
constexpr int kShortestPartTokens = 128;
/// More row tiles than this side by side gain nothing: L2 is read that many times already.
constexpr int kWidthMax = 8;
/// Efficiency that may be given up for one reader more of a tile that is in L2.
constexpr double kWidthWorth = 0.96;

int ceil_div(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

/// Writing, reading and merging partials costs about as much as this many tokens more for each CTA.
constexpr int kMergeTokens = 192;

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

/// A part of a request's context for `width` row tiles, in steps of the tile's tokens.
struct Part {
  int column = 0;  ///< of CTAs
  int step_begin = 0;
  int step_end = 0;
};

/// The request's context for the row tiles of one pass.
struct Unit {
  int request = 0;
  int pass = 0;
  int steps = 0;
  std::vector<Part> parts;
};

std::vector<Unit> units_of(const Problem& problem, int passes, int tile_tokens) {
  std::vector<Unit> units;
  for (int request = 0; request < problem.shape.batch; ++request) {
    const int steps = ceil_div(problem.lengths[static_cast<std::size_t>(request)], tile_tokens);
    for (int pass = 0; pass < passes; ++pass) units.push_back(Unit{request, pass, steps, {}});
  }
  return units;
}

/// Equal shares in order: a column of CTAs is filled to its quota, then the next.
class Sharer {
 public:
  Sharer(const std::vector<Unit>& units, int columns, int tile_tokens)
      : columns_(columns),
        overhead_(std::max(1, kItemOverheadTokens / tile_tokens)),
        shortest_(std::max(1, kShortestPartTokens / tile_tokens)) {
    for (const Unit& unit : units) work_left_ += unit.steps + overhead_;
    next_quota();
  }

  /// Work of each column, if all get the same.
  int quota() const { return quota_; }

  void share(Unit& unit) {
    int begin = 0;
    do {
      const int left = unit.steps - begin;
      const bool last_column = column_ + 1 == columns_;
      if (!last_column && room_ < overhead_ + std::min(left, std::max(slack(), shortest_))) {
        ++column_;
        next_quota();
        continue;
      }
      int taken = last_column ? left : std::min(left, room_ - overhead_);
      if (left - taken <= slack()) taken = left;
      unit.parts.push_back(Part{column_, begin, begin + taken});
      begin += taken;
      room_ -= taken + overhead_;
      work_left_ -= taken;
      // The rest of a request that is cut costs its overhead once more.
      if (begin == unit.steps) work_left_ -= overhead_;
    } while (begin < unit.steps || unit.parts.empty());
  }

 private:
  void next_quota() {
    quota_ = std::max(ceil_div(work_left_, columns_ - column_), overhead_ + shortest_);
    room_ = quota_;
  }
  /// A cut that would leave less than this is not made.
  int slack() const { return quota_ / 32; }

  int columns_;
  int overhead_;
  int shortest_;
  std::int64_t work_left_ = 0;
  int column_ = 0;
  int quota_ = 0;
  int room_ = 0;
};

/// Each request in `parts` nearly equal parts, whatever the batch; the least loaded column next.
/// Gives the load of the column with the most work.
std::int64_t share_equally(std::vector<Unit>& units, int columns, int parts, int tile_tokens) {
  const int overhead = std::max(1, kItemOverheadTokens / tile_tokens);
  std::vector<std::int64_t> load(static_cast<std::size_t>(columns));
  for (Unit& unit : units) {
    const int count = std::clamp(parts, 1, std::max(1, unit.steps));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto least = std::min_element(load.begin(), load.end());
      const Part part{.column = static_cast<int>(least - load.begin()),
                      .step_begin = static_cast<int>(unit.steps * i / count),
                      .step_end = static_cast<int>(unit.steps * (i + 1) / count)};
      *least += part.step_end - part.step_begin + overhead;
      unit.parts.push_back(part);
    }
  }
  return *std::max_element(load.begin(), load.end());
}

/// Whole requests where that keeps the columns nearly as busy as cutting them, else equal shares.
void share_best(std::vector<Unit>& units, int columns, int tile_tokens) {
  auto whole = units;
  Sharer sharer(units, columns, tile_tokens);
  const int share = sharer.quota();
  if (share_equally(whole, columns, 1, tile_tokens) <= share + kMergeTokens / tile_tokens) {
    units = std::move(whole);
    return;
  }
  for (Unit& unit : units) sharer.share(unit);
}

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

/// Gives the items of the units to the CTAs, and slots to those that are parts.
void assign(SplitPlan& plan, const Problem& problem, const std::vector<Unit>& units,
            int tile_tokens) {
  const int packed_rows = problem.shape.query_tokens * problem.shape.local_heads;
  int columns = 1;
  for (const Unit& unit : units) {
    for (const Part& part : unit.parts) columns = std::max(columns, part.column + 1);
  }
  std::vector<std::vector<WorkItem>> of_cta(static_cast<std::size_t>(columns * plan.width));
  for (const Unit& unit : units) {
    const int count = static_cast<int>(unit.parts.size());
    const int length = problem.lengths[static_cast<std::size_t>(unit.request)];
    plan.num_splits = std::max(plan.num_splits, count);
    for (int j = 0; j < plan.width; ++j) {
      const int row_begin = (unit.pass * plan.width + j) * plan.tile_rows;
      if (row_begin >= packed_rows) break;
      const int row_count = std::min(plan.tile_rows, packed_rows - row_begin);
      if (count > 1) {
        plan.merges.push_back(
            MergeItem{unit.request, row_begin, row_count, plan.slot_count, count});
      }
      for (const Part& part : unit.parts) {
        of_cta[static_cast<std::size_t>(part.column * plan.width + j)].push_back(
            WorkItem{.request = unit.request,
                     .row_begin = row_begin,
                     .row_count = row_count,
                     .token_begin = std::min(length, part.step_begin * tile_tokens),
                     .token_end = std::min(length, part.step_end * tile_tokens),
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

SplitPlan plan_splits(const Problem& problem, const PlanRequest& request) {
  const int packed_rows = problem.shape.query_tokens * problem.shape.local_heads;
  const int blocks = ceil_div(packed_rows, kBlockRows);
  SplitPlan plan;
  plan.tile_rows = kBlockRows * ceil_div(blocks, ceil_div(blocks * kBlockRows, request.rows_max));
  plan.row_tiles = ceil_div(packed_rows, plan.tile_rows);
  plan.width = choose_width(plan.row_tiles, request.ctas);
  const int columns = request.ctas / plan.width;
  auto units = units_of(problem, ceil_div(plan.row_tiles, plan.width), request.tile_tokens);
  if (request.num_splits > 0) {
    share_equally(units, columns, request.num_splits, request.tile_tokens);
  } else {
    share_best(units, columns, request.tile_tokens);
  }
  assign(plan, problem, units, request.tile_tokens);
  return plan;
}

}  // namespace headsplit::kernels::portable

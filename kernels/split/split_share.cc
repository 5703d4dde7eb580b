#include "kernels/split/split_share.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace headsplit::kernels::split {
namespace {

int ceil_div(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

void cut(Unit& unit, std::int64_t count) {
  unit.runs.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    unit.runs.push_back(Run{.step_begin = static_cast<int>(unit.steps * i / count),
                            .step_end = static_cast<int>(unit.steps * (i + 1) / count)});
  }
}

/// The largest run first, to the column with the least work; equals in order.
void place(std::vector<Unit>& units, int columns, int item_steps) {
  std::vector<Run*> runs;
  for (Unit& unit : units) {
    for (Run& run : unit.runs) runs.push_back(&run);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run* a, const Run* b) { return a->steps() > b->steps(); });
  using Load = std::pair<std::int64_t, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int column = 0; column < columns; ++column) least.push({0, column});
  for (Run* run : runs) {
    auto [load, column] = least.top();
    least.pop();
    run->column = column;
    least.push({load + run->steps() + item_steps, column});
  }
}

/// Equal shares in order: a column of CTAs is filled to its quota, then the next.
class Sharer {
 public:
  Sharer(const std::vector<Unit>& units, int columns, int item_steps, int shortest)
      : columns_(columns), item_steps_(item_steps), shortest_(shortest) {
    for (const Unit& unit : units) work_left_ += unit.steps + item_steps_;
    next_quota();
  }

  void share(Unit& unit) {
    unit.runs.clear();
    int begin = 0;
    do {
      const int left = unit.steps - begin;
      const bool last_column = column_ + 1 == columns_;
      if (!last_column && room_ < item_steps_ + std::min(left, std::max(slack(), shortest_))) {
        ++column_;
        next_quota();
        continue;
      }
      int taken = last_column ? left : std::min(left, room_ - item_steps_);
      if (left - taken <= slack()) taken = left;
      unit.runs.push_back(Run{column_, begin, begin + taken});
      begin += taken;
      room_ -= taken + item_steps_;
      work_left_ -= taken;
      // The rest of a request that is cut costs its overhead once more.
      if (begin == unit.steps) work_left_ -= item_steps_;
    } while (begin < unit.steps || unit.runs.empty());
  }

 private:
  void next_quota() {
    quota_ = std::max(ceil_div(work_left_, columns_ - column_), item_steps_ + shortest_);
    room_ = quota_;
  }
  /// A cut that would leave less than this is not made.
  int slack() const { return quota_ / 32; }

  int columns_;
  int item_steps_;
  int shortest_;
  std::int64_t work_left_ = 0;
  int column_ = 0;
  int quota_ = 0;
  int room_ = 0;
};

}  // namespace

void share_in_runs(std::vector<Unit>& units, int columns, int run_steps, int item_steps) {
  for (Unit& unit : units) cut(unit, std::max(1, ceil_div(unit.steps, run_steps)));
  place(units, columns, item_steps);
}

void share_in_count(std::vector<Unit>& units, int columns, int count, int item_steps) {
  for (Unit& unit : units) cut(unit, std::clamp(count, 1, std::max(1, unit.steps)));
  place(units, columns, item_steps);
}

void share_in_order(std::vector<Unit>& units, int columns, int item_steps, int shortest) {
  Sharer sharer(units, columns, item_steps, shortest);
  for (Unit& unit : units) sharer.share(unit);
}

}  // namespace headsplit::kernels::split

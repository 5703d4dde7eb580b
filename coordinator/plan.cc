#include "coordinator/plan.h"

#include <algorithm>

#include "coordinator/memory.h"
#include "tp/shard.h"

namespace headsplit::coordinator {
namespace {

/// The point at a position of the product: ranks and layouts vary fastest, kernels slowest.
Point point_at(const Sweep& sweep, std::int64_t position) {
  auto index = static_cast<std::size_t>(position);
  const auto next = [&index](const auto& values) {
    const std::size_t at = index % values.size();
    index /= values.size();
    return values[at];
  };
  Point point{.model = sweep.model.name};
  point.ranks = next(sweep.ranks);
  point.layout = next(sweep.layouts);
  point.batch = next(sweep.axes.batch);
  point.query_tokens = next(sweep.axes.query_tokens);
  point.context = next(sweep.axes.context);
  point.l2 = next(sweep.axes.l2);
  point.lengths = next(sweep.axes.lengths);
  point.kv_dtype = next(sweep.axes.kv_dtype);
  point.message_bytes = next(sweep.axes.message_bytes);
  point.fixed_splits = next(sweep.axes.fixed_splits);
  point.top_k = next(sweep.axes.top_k);
  point.kernel = next(sweep.kernels);
  return point;
}

bool excluded(const Sweep& sweep, const Point& point) {
  return std::any_of(sweep.exclude.begin(), sweep.exclude.end(),
                     [&](const Exclusion& exclusion) { return exclusion.excludes(point); });
}

void skip(PlannedPoint& planned, std::string reason) {
  planned.state = PlannedState::skipped;
  planned.reason = std::move(reason);
}

/// Buffers of a message's size that a rank of a collective needs: in, out, and on the way.
constexpr std::int64_t kMessageBuffers = 3;

/// A point with its rank problem; skipped when it has none, or does not fit.
PlannedPoint planned_point(const Sweep& sweep, const Point& point,
                           std::optional<std::int64_t> memory_bytes) {
  PlannedPoint planned{.point = point, .measure = sweep.measure};
  const auto problem = tp::rank_problem(sweep.model, point);
  if (!problem) {
    skip(planned, problem.error().message);
    return planned;
  }
  planned.problem = *problem;
  planned.memory_bytes = is_collective(point.kernel)
                             ? kMessageBuffers * point.message_bytes
                             : rank_memory_bytes(*problem, point.fixed_splits);
  if (memory_bytes && planned.memory_bytes > *memory_bytes) {
    skip(planned, memory_reason(planned.memory_bytes, *memory_bytes));
  }
  return planned;
}

Result<void> check_sweep(const Sweep& sweep) {
  if (product_size(sweep) > kPointsMax) {
    return fail(ErrorKind::config, sweep.name, ": more than ", kPointsMax, " points");
  }
  return {};
}

}  // namespace

std::string memory_reason(std::int64_t needed_bytes, std::int64_t available_bytes) {
  return str("needs ", needed_bytes, " bytes (", bytes_text(needed_bytes), ") a rank; ",
             available_bytes, " bytes (", bytes_text(available_bytes), ") are available");
}

Result<Plan> make_plan(const Sweep& sweep, std::optional<std::int64_t> memory_bytes) {
  TRY(check_sweep(sweep));
  Plan plan{.name = sweep.name,
            .seed = sweep.seed,
            .limits = sweep.limits,
            .gang = sweep.gang,
            .hidden = sweep.model.hidden,
            .content = sweep_content(sweep)};
  plan.id = content_id(plan.content);
  const std::int64_t size_of_one_repeat = product_size(sweep) / sweep.measure.repeats;
  for (std::int64_t position = 0; position < size_of_one_repeat; ++position) {
    const Point point = point_at(sweep, position);
    if (!excluded(sweep, point)) {
      plan.points.push_back(planned_point(sweep, point, memory_bytes));
    }
  }
  if (plan.points.empty()) {
    return fail(ErrorKind::config, sweep.name, ": exclude: leaves no point of the sweep");
  }
  const std::size_t one_repeat = plan.points.size();
  plan.points.reserve(one_repeat * static_cast<std::size_t>(sweep.measure.repeats));
  for (int repeat = 1; repeat < sweep.measure.repeats; ++repeat) {
    for (std::size_t i = 0; i < one_repeat; ++i) {
      plan.points.push_back(plan.points[i]);
      plan.points.back().point.repeat = repeat;
    }
  }
  for (PlannedPoint& planned : plan.points) planned.id = point_id(planned.point);
  return plan;
}

}  // namespace headsplit::coordinator

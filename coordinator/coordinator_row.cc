#include "coordinator/coordinator_row.h"

#include <cmath>

#include "core/row_point.h"

namespace headsplit::coordinator {
namespace {

/// What a row says of its point, without the shares that the agent fills in.
RowPoint point_part(const Row& row) {
  RowPoint part = row;
  part.local_heads = 0;
  part.rank_batch = 0;
  part.rank_context = 0;
  return part;
}

}  // namespace

Row coordinator_row(const Plan& plan, const PlannedPoint& planned, Status status,
                    std::string reason, std::int64_t epoch) {
  Row row = row_of(planned.point);
  row.epoch = epoch;
  row.sweep = plan.name;
  row.seed = plan.seed;
  row.status = status;
  row.reason = std::move(reason);
  row.local_heads = planned.problem.local_heads;
  row.rank_batch = planned.problem.batch;
  row.rank_context = planned.problem.context;
  return row;
}

std::string mismatch_of(const Row& row, const PlannedPoint& planned) {
  const RowPoint wanted = row_point_of(planned.point);
  if (point_part(row) != wanted) {
    return str("the report is of ", json_text(point_part(row)), ", the lease was of ",
               json_text(wanted));
  }
  const bool timed = row.time_us && std::isfinite(*row.time_us) && *row.time_us > 0;
  if (row.status == Status::ok && !timed) return "the report is ok and has no time";
  return {};
}

}  // namespace headsplit::coordinator

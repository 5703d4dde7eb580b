#include "agent/run_rank.h"

#include <algorithm>
#include <chrono>

#include "agent/derive_figures.h"
#include "agent/gathered_rows.h"
#include "agent/link_traffic.h"
#include "agent/point_reference.h"
#include "agent/rank_device.h"
#include "agent/rank_gang.h"
#include "agent/rank_timing.h"
#include "core/stats.h"
#include "kernels/verify.h"
#include "tp/group/rank_shard.h"

namespace headsplit::agent {
namespace {

using kernels::Part;
using kernels::Problem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The problem of all ranks together.
Problem whole_problem(const Lease& lease) {
  RankProblem shape = lease.problem;
  shape.local_heads *= lease.point.layout.tp;
  shape.batch = lease.point.batch;
  shape.context = lease.point.context;
  return kernels::make_problem(shape, lease.seed);
}

Row started_row(const Lease& lease) {
  Row row = failed_row(lease, "", false);
  row.started_unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  row.pages = lease.gang.pages;
  row.merge = lease.gang.merge;
  row.counters_reason = "kernels of a gang are not counted: run the point with ranks: emulated";
  row.parts = {RankPart{.rank = lease.gang.rank,
                        .local_heads = row.local_heads,
                        .rank_batch = row.rank_batch,
                        .rank_context = row.rank_context}};
  return row;
}

void note_shard(const Problem& shard, const kernels::Config& config, Row& row) {
  row.rank_context = shard.shape.context;
  row.parts.front().rank_context = shard.shape.context;
  row.num_splits = config.num_splits;
  row.padded_rows = config.padded_rows;
  row.active_ctas = config.workers;
  row.config = str("rows ", config.tile_rows, " x tokens ", config.tile_tokens, ", ",
                   config.num_splits, " splits, ", config.workers, " workers: ", config.reason);
}

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(rank);
  return ranks;
}

/// What the ranks computed together, against the whole problem and the sum of their projections.
Result<double> verify_together(Device& device, const Problem& whole, const Problem& shard, int cp,
                               kernels::BoundKernel& kernel, tp::RankAttention& attention,
                               tp::MeshGroup& control) {
  TRY(kernel.poison());
  TRY(kernel.launch(Part::all));
  TRY(attention.communicate());
  TRY(attention.project());
  TRY(attention.communicate());
  const double projection = TRY(attention.projection_error());
  if (!(projection <= 1)) {
    return fail(ErrorKind::mismatch, "the all-reduce is off by ", projection,
                " times what bf16 sums may lose");
  }
  return verify_gathered(device, whole, shard, cp, attention, control);
}

Result<void> run_attention(Device& device, RankDevice& ranks, const Ceilings& ceilings,
                           const Lease& lease, const AwaitGo& await_go, Row& row) {
  const auto start = Clock::now();
  if (lease.problem.family != Family::mla_dense) {
    return fail(ErrorKind::config, lease.point.kernel, " runs with ranks: emulated only");
  }
  const Problem whole = whole_problem(lease);
  const Problem shard =
      tp::rank_shard(whole, lease.point.layout, lease.gang.rank, lease.gang.pages);
  const auto kernel = TRY(device.bind(lease.point.kernel, shard, lease.point.fixed_splits));
  note_shard(shard, kernel->config(), row);
  row.prepare_s = seconds_since(start);
  TRY(kernel->poison());
  TRY(kernel->launch(Part::all));
  const kernels::Reference reference = TRY(make_point_reference(device, shard));
  const auto alone = TRY(kernels::verify(*kernel, shard, reference));

  const JoinedGang gang = TRY(join_gang(lease, ranks.kept_ids(lease.gang), await_go));
  const auto rank = TRY(ranks.join(*gang.mesh, gang.kept, lease));
  tp::MeshGroup control(*gang.mesh, all_ranks(lease.gang.size));
  tp::RankAttention* const attention = TRY(rank->attention(*kernel, shard, lease));
  const double together = TRY(
      verify_together(device, whole, shard, lease.point.layout.cp, *kernel, *attention, control));
  row.error_vs_reference = std::max(alone.worst, together);
  row.parts.front().error_vs_reference = row.error_vs_reference;
  row.verify_s = seconds_since(start) - row.prepare_s;
  const auto steps = TRY(rank->steps(*kernel));
  TRY(time_rank(device, *steps, lease, control, row));
  derive_figures(kernels::work(shard), ceilings, kernel->arithmetic(), row);
  return {};
}

Result<void> run_collective(Device& device, RankDevice& ranks, const Lease& lease,
                            const AwaitGo& await_go, Row& row) {
  const JoinedGang gang = TRY(join_gang(lease, ranks.kept_ids(lease.gang), await_go));
  const auto rank = TRY(ranks.join(*gang.mesh, gang.kept, lease));
  tp::MeshGroup control(*gang.mesh, all_ranks(lease.gang.size));
  const std::int64_t bytes = lease.point.message_bytes;
  const CollectiveMessage message(lease.point.kernel, bytes, lease.gang.rank, lease.gang.size);
  const auto steps = TRY(rank->steps(message));
  row.error_vs_reference = 0;
  const LinkTraffic traffic(device);
  const TimedStep timed = TRY(time_until_steady(*steps, Step::collective, lease, control));
  traffic.note(static_cast<int>(timed.own_us.size()), row);
  note_times(timed, row);
  RankPart& part = row.parts.front();
  part.time_us = part.collective_us = quantile(timed.own_us, 0.5);
  row.algbw_gbps = static_cast<double>(bytes) / *row.time_us * 1e-3;
  row.busbw_gbps = *row.algbw_gbps * message.bus_factor();
  return {};
}

Result<std::unique_ptr<RankDevice>> rank_device(Device& device) {
  if (device.info().backend == kernels::Backend::cuda) return cuda_rank_device(device);
  return host_rank_device(device);
}

Result<void> run_on(Device& device, std::unique_ptr<RankDevice>& ranks, const Ceilings& ceilings,
                    const Lease& lease, const AwaitGo& await_go, Row& row) {
  if (!ranks) ranks = TRY(rank_device(device));
  row.transport = ranks->transport();
  if (lease.point.message_bytes > 0) return run_collective(device, *ranks, lease, await_go, row);
  return run_attention(device, *ranks, ceilings, lease, await_go, row);
}

}  // namespace

Row run_rank(Device& device, std::unique_ptr<RankDevice>& ranks, const Ceilings& ceilings,
             const Lease& lease, const AwaitGo& await_go) {
  const auto start = Clock::now();
  Row row = started_row(lease);
  const Result<void> outcome = run_on(device, ranks, ceilings, lease, await_go, row);
  if (!outcome) ranks.reset();
  if (outcome) {
    row.status = Status::ok;
  } else {
    const ErrorKind kind = outcome.error().kind;
    row.status = kind == ErrorKind::config ? Status::skipped : Status::failed;
    // Trouble with another rank says nothing against the point.
    row.retryable = kind == ErrorKind::io || kind == ErrorKind::timeout;
    row.reason = outcome.error().message;
  }
  row.wall_s = seconds_since(start);
  return row;
}

}  // namespace headsplit::agent

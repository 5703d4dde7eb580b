#include <algorithm>

#include "coordinator/coordinator_row.h"
#include "coordinator/store_tables.h"

/// Sweeps of the store: plans written whole, runs begun, and what a restart finds.
namespace headsplit::coordinator {
namespace {

constexpr int kFinishedRestored = 16;

/// Column 0 of a row: a position in the plan.
Result<std::size_t> position_of(const Statement& row, std::size_t count) {
  const std::int64_t position = row.integer(0);
  if (position >= 0 && static_cast<std::size_t>(position) < count) {
    return static_cast<std::size_t>(position);
  }
  return fail(ErrorKind::io, "the points of a sweep are not numbered 0 to ", count - 1,
              ": the database was changed by hand");
}

StoredSweep new_sweep(const std::shared_ptr<const Plan>& plan, const std::string& backend) {
  StoredSweep sweep{.plan = plan, .progress = {}, .backend = backend, .run = 1};
  sweep.progress.resize(plan->points.size());
  for (std::size_t at = 0; at < plan->points.size(); ++at) {
    if (plan->points[at].state != PlannedState::skipped) continue;
    sweep.progress[at] = {.state = PointState::done, .status = Status::skipped};
  }
  return sweep;
}

}  // namespace

Result<StoredSweep> StoreTables::begin_sweep(const std::shared_ptr<const Plan>& plan,
                                             const std::string& backend) {
  Statement find = TRY(database_->prepare("SELECT count(*) FROM sweeps WHERE id = ?1"));
  TRY(find.start(plan->id));
  TRY(find.next());
  const bool is_new = find.integer(0) == 0;
  TRY(find.next());
  if (is_new) {
    TRY(insert_sweep(*plan, backend));
  } else {
    TRY(join_or_begin_run(*plan, backend));
  }
  // What was just written need not be read: others wait for the disk meanwhile.
  StoredSweep stored = is_new ? new_sweep(plan, backend) : TRY(stored_sweep(plan->id));
  begun_.insert(plan->id);
  return stored;
}

Result<void> StoreTables::insert_sweep(const Plan& plan, const std::string& backend) {
  Statement insert = TRY(database_->prepare(
      "INSERT INTO sweeps (id, name, backend, content, seed, limits, run, created_unix_s) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7)"));
  TRY(insert.run(plan.id, plan.name, backend, plan.content, std::to_string(plan.seed),
                 json_text(plan.limits), unix_time_s()));
  return insert_points(TRY(key_of(plan.id)), plan);
}

Result<void> StoreTables::insert_points(const SweepKey& sweep, const Plan& plan) {
  Statement point =
      TRY(database_->prepare("INSERT INTO points (sweep, position, point_id, label, planned) "
                             "VALUES (?1, ?2, ?3, ?4, ?5) RETURNING point"));
  Statement progress =
      TRY(database_->prepare("INSERT INTO progress (point, sweep, state, epoch, status, run) "
                             "VALUES (?1, ?2, ?3, 0, ?4, ?5)"));
  std::int64_t position = 0;
  for (const PlannedPoint& planned : plan.points) {
    TRY(point.start(sweep.key, position++, planned.id, point_label(planned.point),
                    json_text(planned)));
    TRY(point.next());
    const std::int64_t key = point.integer(0);
    TRY(point.next());
    if (planned.state != PlannedState::skipped) {
      TRY(progress.run(key, sweep.key, "pending", std::nullopt, std::nullopt));
      continue;
    }
    TRY(progress.run(key, sweep.key, "done", "skipped", sweep.run));
    TRY(insert_row(sweep, key, coordinator_row(plan, planned, Status::skipped, planned.reason, 0)));
  }
  return {};
}

Result<void> StoreTables::join_or_begin_run(const Plan& plan, const std::string& backend) {
  Statement find = TRY(database_->prepare("SELECT sweep, backend FROM sweeps WHERE id = ?1"));
  TRY(find.start(plan.id));
  TRY(find.next());
  const std::int64_t key = find.integer(0);
  const std::string before = find.text(1);
  TRY(find.next());
  if (!before.empty() && !backend.empty() && before != backend) {
    return fail(ErrorKind::mismatch, database_->path(), ": sweep ", plan.name,
                " was begun on backend ", before, " in this database, and is now asked for on ",
                backend, "; name another database, or the same backend");
  }
  if (begun_.count(plan.id) != 0 && TRY(has_open_points(key))) return {};
  if (!backend.empty()) {
    Statement update = TRY(database_->prepare("UPDATE sweeps SET backend = ?2 WHERE id = ?1"));
    TRY(update.run(plan.id, backend));
  }
  return begin_run(plan.id);
}

/// What is done stays, cancelled points are open again, and running ones wait again.  Rows are
/// found by their points: to look through all rows takes long.
Result<void> StoreTables::begin_run(const std::string& id) {
  keys_.erase(id);
  const std::string points =
      "(SELECT point FROM points WHERE sweep = (SELECT sweep FROM sweeps WHERE id = ?1))";
  const std::string cancelled =
      "(SELECT point FROM progress WHERE status = 'cancelled' AND point IN " + points + ")";
  for (const std::string& sql : {
           std::string("UPDATE sweeps SET run = run + 1 WHERE id = ?1"),
           "INSERT INTO attempts (point, epoch, outcome, reason, counts, stored_unix_s, row) "
           "SELECT point, epoch, status, 'the sweep was begun again', 0, stored_unix_s, row "
           "FROM rows WHERE point IN " +
               cancelled,
           "DELETE FROM rows WHERE point IN " + cancelled,
           "UPDATE progress SET state = 'pending', status = NULL, run = NULL "
           "WHERE status = 'cancelled' AND point IN " +
               points,
           "UPDATE progress SET state = 'pending' WHERE state = 'running' AND point IN " + points,
       }) {
    Statement statement = TRY(database_->prepare(sql));
    TRY(statement.run(id));
  }
  return {};
}

Result<bool> StoreTables::has_open_points(std::int64_t sweep) {
  Statement open =
      TRY(database_->prepare("SELECT EXISTS (SELECT 1 FROM points JOIN progress USING (point) "
                             "WHERE points.sweep = ?1 AND state != 'done')"));
  TRY(open.start(sweep));
  TRY(open.next());
  return open.integer(0) > 0;
}

Result<StoredSweep> StoreTables::stored_sweep(const std::string& id) {
  StoredSweep stored;
  const auto plan = std::make_shared<const Plan>(TRY(stored_plan(id)));
  const SweepKey sweep = TRY(key_of(id));
  stored.run = sweep.run;
  stored.progress = TRY(stored_progress(sweep.key, plan->points.size()));
  stored.plan = plan;
  Statement find = TRY(database_->prepare("SELECT backend FROM sweeps WHERE id = ?1"));
  TRY(find.start(id));
  TRY(find.next());
  stored.backend = find.text(0);
  return stored;
}

Result<Plan> StoreTables::stored_plan(const std::string& id) {
  Statement find = TRY(
      database_->prepare("SELECT sweep, name, seed, limits, content FROM sweeps WHERE id = ?1"));
  TRY(find.start(id));
  if (!TRY(find.next())) return fail(ErrorKind::mismatch, "no sweep ", id, " is stored");
  const std::int64_t sweep = find.integer(0);
  const auto seed = TRY(value_from_text<std::uint64_t>(find.text(2)));
  const auto limits = TRY(value_from_text<Limits>(find.text(3)));
  Plan plan{
      .id = id, .name = find.text(1), .seed = seed, .limits = limits, .content = find.text(4)};
  TRY(find.next());
  // What only gangs need is read from the sweep itself: plans of old files have none of it.
  const json::value content = TRY(parse_json(plan.content));
  if (!content.is_object()) {
    return fail(ErrorKind::io, "sweep ", id, ": its content is no JSON object: the database was ",
                "changed by hand");
  }
  const json::object& sweep_object = content.get_object();
  if (const json::value* gang = sweep_object.if_contains("gang")) {
    plan.gang = TRY(from_json<GangOptions>(*gang, "gang"));
  }
  if (const json::value* model = sweep_object.if_contains("model")) {
    plan.hidden = TRY(from_json<tp::Model>(*model, "model")).hidden;
  }
  TRY(read_points(sweep, plan.points));
  return plan;
}

/// Nothing of a point that is done is needed but its id, and most of what a restart finds is done.
Result<void> StoreTables::read_points(std::int64_t sweep, std::vector<PlannedPoint>& points) {
  Statement select = TRY(
      database_->prepare("SELECT point_id, CASE WHEN state = 'done' THEN NULL ELSE planned END "
                         "FROM points INDEXED BY points_in_order CROSS JOIN progress USING (point) "
                         "WHERE points.sweep = ?1 ORDER BY position"));
  TRY(select.start(sweep));
  while (TRY(select.next())) {
    if (select.is_null(1)) {
      points.push_back({.id = select.text(0)});
    } else {
      points.push_back(TRY(value_from_text<PlannedPoint>(select.text(1))));
    }
  }
  return {};
}

Result<std::vector<PointProgress>> StoreTables::stored_progress(std::int64_t sweep,
                                                                std::size_t count) {
  std::vector<PointProgress> progress(count);
  Statement points = TRY(database_->prepare(
      "SELECT position, state, epoch, status, progress.run < sweeps.run "
      "FROM sweeps CROSS JOIN points INDEXED BY points_in_order USING (sweep) "
      "CROSS JOIN progress USING (point) WHERE sweeps.sweep = ?1 ORDER BY position"));
  TRY(points.start(sweep));
  while (TRY(points.next())) {
    PointProgress& point = progress[TRY(position_of(points, count))];
    point.state = TRY(enum_from_name<PointState>(points.text(1)));
    point.epoch = points.integer(2);
    if (!points.is_null(3)) point.status = TRY(enum_from_name<Status>(points.text(3)));
    point.resumed = points.integer(4) != 0;
  }
  Statement failures = TRY(database_->prepare(
      "SELECT position, epoch, outcome, reason FROM attempts JOIN points USING (point) "
      "WHERE sweep = ?1 AND counts = 1 ORDER BY attempt"));
  TRY(failures.start(sweep));
  while (TRY(failures.next())) {
    progress[TRY(position_of(failures, count))].failures.push_back(
        {failures.integer(1), failures.text(2), failures.text(3)});
  }
  return progress;
}

Result<FinishedSweep> StoreTables::stored_finished_sweep(const std::string& id) {
  Statement sweep =
      TRY(database_->prepare("SELECT sweep, name, backend FROM sweeps WHERE id = ?1"));
  TRY(sweep.start(id));
  TRY(sweep.next());
  const std::int64_t key = sweep.integer(0);
  SweepView view{.id = id, .name = sweep.text(1), .backend = sweep.text(2)};
  Statement select = TRY(database_->prepare(
      "SELECT point_id, epoch, status, progress.run < sweeps.run "
      "FROM sweeps CROSS JOIN points INDEXED BY points_in_order USING (sweep) "
      "CROSS JOIN progress USING (point) WHERE sweeps.sweep = ?1 ORDER BY position"));
  TRY(select.start(key));
  std::vector<FinishedSweep::Point> points;
  while (TRY(select.next())) {
    points.push_back({select.text(0), select.integer(1)});
    ++view.of_status(TRY(enum_from_name<Status>(select.text(2))));
    view.resumed += select.integer(3);
  }
  view.points = static_cast<std::int64_t>(points.size());
  std::unordered_map<std::string, std::vector<AttemptFailure>> failures;
  Statement failed = TRY(database_->prepare(
      "SELECT point_id, epoch, outcome, reason FROM attempts JOIN points USING (point) "
      "WHERE sweep = ?1 AND counts = 1 ORDER BY attempt"));
  TRY(failed.start(key));
  while (TRY(failed.next())) {
    failures[failed.text(0)].push_back({failed.integer(1), failed.text(2), failed.text(3)});
  }
  return FinishedSweep(std::move(view), std::move(points), std::move(failures));
}

Result<RestoredSweeps> StoreTables::restore() {
  std::vector<std::pair<std::string, bool>> all;  // id, has open points
  Statement find = TRY(database_->prepare("SELECT id, sweep FROM sweeps ORDER BY sweep"));
  TRY(find.start());
  while (TRY(find.next())) all.emplace_back(find.text(0), TRY(has_open_points(find.integer(1))));

  auto finished = std::count_if(all.begin(), all.end(), [](const auto& f) { return !f.second; });
  RestoredSweeps sweeps;
  for (const auto& [id, open] : all) {
    if (open) {
      TRY(begin_run(id));
      begun_.insert(id);
      sweeps.open.push_back(TRY(stored_sweep(id)));
    } else if (finished-- <= kFinishedRestored) {
      sweeps.finished.push_back(
          std::make_shared<const FinishedSweep>(TRY(stored_finished_sweep(id))));
    }
  }
  return sweeps;
}

}  // namespace headsplit::coordinator

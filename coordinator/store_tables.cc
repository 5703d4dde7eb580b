#include "coordinator/store_tables.h"

#include <chrono>

namespace headsplit::coordinator {
namespace {

constexpr const char* kFindPoint = "SELECT point FROM points WHERE sweep = ?1 AND point_id = ?2";
constexpr const char* kRaiseEpoch =
    "UPDATE progress SET state = 'running', epoch = ?2 "
    "WHERE point = ?1 AND state != 'done' AND epoch < ?2";
constexpr const char* kFinishPoint =
    "UPDATE progress SET state = 'done', epoch = ?2, status = ?3, run = ?4 "
    "WHERE point = ?1 AND state != 'done' AND epoch <= ?2";
constexpr const char* kReopenPoint =
    "UPDATE progress SET state = 'pending' WHERE point = ?1 AND state = 'running' AND epoch = ?2";
constexpr const char* kInsertRow =
    "INSERT INTO rows (point, sweep, point_id, epoch, run, status, model, kernel, layout, batch, "
    "query_tokens, context, kv_dtype, time_us, stored_unix_s, row) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
constexpr const char* kInsertAttempt =
    "INSERT INTO attempts (point, epoch, outcome, reason, counts, stored_unix_s, row) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
constexpr const char* kUpdateAttempt =
    "UPDATE attempts SET outcome = ?3, reason = ?4, row = ?5 "
    "WHERE point = ?1 AND epoch = ?2 AND counts = 1";

Error refused(const std::string& what, const std::string& sweep, const std::string& point_id,
              std::int64_t epoch) {
  return fail(ErrorKind::mismatch, what, " of sweep ", sweep, " point ", point_id, " epoch ", epoch,
              " does not fit what is stored");
}

}  // namespace

double unix_time_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Result<StoreTables> StoreTables::open(Database& database) {
  StoreTables tables(database);
  tables.find_point_ = TRY(database.prepare(kFindPoint));
  tables.raise_epoch_ = TRY(database.prepare(kRaiseEpoch));
  tables.finish_point_ = TRY(database.prepare(kFinishPoint));
  tables.reopen_point_ = TRY(database.prepare(kReopenPoint));
  tables.insert_row_ = TRY(database.prepare(kInsertRow));
  tables.insert_attempt_ = TRY(database.prepare(kInsertAttempt));
  tables.update_attempt_ = TRY(database.prepare(kUpdateAttempt));
  return tables;
}

Result<StoreTables::SweepKey> StoreTables::key_of(const std::string& sweep) {
  if (const auto known = keys_.find(sweep); known != keys_.end()) return known->second;
  Statement find = TRY(database_->prepare("SELECT sweep, run FROM sweeps WHERE id = ?1"));
  TRY(find.start(sweep));
  if (!TRY(find.next())) return fail(ErrorKind::mismatch, "no sweep ", sweep, " is stored");
  const SweepKey key{find.integer(0), static_cast<int>(find.integer(1))};
  keys_[sweep] = key;
  return key;
}

Result<std::int64_t> StoreTables::point_of(const SweepKey& sweep, const std::string& point_id) {
  TRY(find_point_->start(sweep.key, point_id));
  if (!TRY(find_point_->next())) {
    return fail(ErrorKind::mismatch, "no point ", point_id, " is stored");
  }
  const std::int64_t point = find_point_->integer(0);
  TRY(find_point_->next());
  return point;
}

Result<void> StoreTables::apply(const LeaseWrite& lease) {
  const SweepKey sweep = TRY(key_of(lease.sweep));
  const std::int64_t point = TRY(point_of(sweep, lease.point_id));
  TRY(raise_epoch_->run(point, lease.epoch));
  if (database_->changes() == 1) return {};
  return refused("a lease", lease.sweep, lease.point_id, lease.epoch);
}

Result<void> StoreTables::apply(const RowWrite& write) {
  const SweepKey sweep = TRY(key_of(write.sweep));
  const Row& row = write.row;
  const std::int64_t point = TRY(point_of(sweep, row.point_id));
  TRY(finish_point_->run(point, row.epoch, enum_name(row.status), sweep.run));
  if (database_->changes() != 1) return refused("a row", write.sweep, row.point_id, row.epoch);
  return insert_row(sweep, point, row);
}

Result<void> StoreTables::insert_row(const SweepKey& sweep, std::int64_t point, const Row& row) {
  return insert_row_->run(point, sweep.key, row.point_id, row.epoch, sweep.run,
                          enum_name(row.status), row.model, row.kernel, row.layout, row.batch,
                          row.query_tokens, row.context, enum_name(row.kv_dtype), row.time_us,
                          unix_time_s(), json_text(row));
}

Result<void> StoreTables::apply(const AttemptWrite& attempt) {
  const SweepKey sweep = TRY(key_of(attempt.sweep));
  const std::int64_t point = TRY(point_of(sweep, attempt.point_id));
  TRY(reopen_point_->run(point, attempt.epoch));
  std::optional<std::string> row;
  if (attempt.row) row = json_text(*attempt.row);
  // A late report of an attempt that was counted as lost or expired says better how it ended.
  if (row && !attempt.counts && attempt.outcome != "stale") {
    TRY(update_attempt_->run(point, attempt.epoch, attempt.outcome, attempt.reason, row));
    if (database_->changes() > 0) return {};
  }
  return insert_attempt_->run(point, attempt.epoch, attempt.outcome, attempt.reason, attempt.counts,
                              unix_time_s(), row);
}

}  // namespace headsplit::coordinator

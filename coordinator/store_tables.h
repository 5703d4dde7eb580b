#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/sqlite.h"
#include "coordinator/store.h"

namespace headsplit::coordinator {

/// The SQL of the store's writes; lives on the writer thread, inside its transactions.
/// Errors of kind `io` are the disk's, and end the store; `mismatch` is one record that does not
/// fit what is stored, and leaves no trace.
class StoreTables {
 public:
  /// database: migrated; outlives this.
  static Result<StoreTables> open(Database& database);

  Result<void> apply(const LeaseWrite& lease);
  Result<void> apply(const RowWrite& write);
  Result<void> apply(const AttemptWrite& attempt);
  Result<StoredSweep> begin_sweep(const std::shared_ptr<const Plan>& plan,
                                  const std::string& backend);
  Result<RestoredSweeps> restore();

  /// Drops what was learnt from the tables: call after a rollback.
  void forget() { keys_.clear(); }

 private:
  explicit StoreTables(Database& database) : database_(&database) {}

  struct SweepKey {
    std::int64_t key = 0;
    int run = 1;
  };
  Result<SweepKey> key_of(const std::string& sweep);
  Result<std::int64_t> point_of(const SweepKey& sweep, const std::string& point_id);
  Result<void> insert_row(const SweepKey& sweep, std::int64_t point, const Row& row);
  Result<void> insert_sweep(const Plan& plan, const std::string& backend);
  Result<void> insert_points(const SweepKey& sweep, const Plan& plan);
  Result<void> join_or_begin_run(const Plan& plan, const std::string& backend);
  Result<void> begin_run(const std::string& id);
  Result<bool> has_open_points(std::int64_t sweep);
  Result<StoredSweep> stored_sweep(const std::string& id);
  Result<Plan> stored_plan(const std::string& id);
  Result<void> read_points(std::int64_t sweep, std::vector<PlannedPoint>& points);
  Result<FinishedSweep> stored_finished_sweep(const std::string& id);
  Result<std::vector<PointProgress>> stored_progress(std::int64_t sweep, std::size_t count);

  Database* database_;
  std::map<std::string, SweepKey> keys_;
  std::set<std::string> begun_;  ///< by this process
  std::optional<Statement> find_point_;
  std::optional<Statement> raise_epoch_;
  std::optional<Statement> finish_point_;
  std::optional<Statement> reopen_point_;
  std::optional<Statement> insert_row_;
  std::optional<Statement> insert_attempt_;
  std::optional<Statement> update_attempt_;
};

double unix_time_s();

}  // namespace headsplit::coordinator

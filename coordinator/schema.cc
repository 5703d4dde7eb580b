#include "coordinator/schema.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace headsplit::coordinator {
namespace {

constexpr std::uintmax_t kCheckedBytesMax = 64 << 20;

/// sweeps: one a plan id; `run` counts how often it was begun.  points: the plan, stored whole
/// before anything is dispatched, and never changed.  progress: where a point stands; apart from
/// `points` because it is small and written all the time.  rows: the one row of a point.  attempts:
/// what gave no row, stale reports included (counts = 1: against the limit of attempts).
constexpr const char* kVersion1 = R"sql(
CREATE TABLE sweeps (
  sweep INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  backend TEXT NOT NULL,
  content TEXT NOT NULL,
  seed TEXT NOT NULL,
  limits TEXT NOT NULL,
  run INTEGER NOT NULL,
  created_unix_s REAL NOT NULL
) STRICT;
CREATE TABLE points (
  point INTEGER PRIMARY KEY,
  sweep INTEGER NOT NULL REFERENCES sweeps,
  position INTEGER NOT NULL,
  point_id TEXT NOT NULL,
  label TEXT NOT NULL,
  planned TEXT NOT NULL,
  UNIQUE (sweep, point_id),
  UNIQUE (sweep, position)
) STRICT;
CREATE TABLE progress (
  point INTEGER PRIMARY KEY REFERENCES points,
  sweep INTEGER NOT NULL REFERENCES sweeps,
  state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done')),
  epoch INTEGER NOT NULL,
  status TEXT CHECK (status IN ('ok', 'failed', 'skipped', 'cancelled')),
  CHECK ((state = 'done') = (status IS NOT NULL))
) STRICT;
CREATE TABLE rows (
  point INTEGER PRIMARY KEY REFERENCES points,
  sweep INTEGER NOT NULL REFERENCES sweeps,
  point_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  run INTEGER NOT NULL,
  status TEXT NOT NULL,
  model TEXT NOT NULL,
  kernel TEXT NOT NULL,
  layout TEXT NOT NULL,
  batch INTEGER NOT NULL,
  query_tokens INTEGER NOT NULL,
  context INTEGER NOT NULL,
  kv_dtype TEXT NOT NULL,
  time_us REAL,
  stored_unix_s REAL NOT NULL,
  row TEXT NOT NULL
) STRICT;
CREATE TABLE attempts (
  attempt INTEGER PRIMARY KEY,
  point INTEGER NOT NULL REFERENCES points,
  epoch INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  counts INTEGER NOT NULL,
  stored_unix_s REAL NOT NULL,
  row TEXT
) STRICT;
CREATE INDEX attempts_of_a_point ON attempts (point, epoch);
)sql";

/// What a restart asks of a million points, without reading their rows or what was planned of them:
/// progress.run, the run that stored a point's row (null while it has none), and an index that
/// holds all that is wanted of `points`.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE progress ADD COLUMN run INTEGER;
UPDATE progress SET run = (SELECT run FROM rows WHERE rows.point = progress.point)
  WHERE state = 'done';
CREATE INDEX points_in_order ON points (sweep, position, point_id);
)sql";

constexpr std::array kMigrations = {Migration{1, kVersion1}, Migration{2, kVersion2}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

int schema_version() { return kMigrations.back().version; }

Result<void> migrate(Database& database, std::span<const Migration> steps) {
  const std::int64_t version = TRY(database.integer("PRAGMA user_version"));
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    const auto done = database.execute(str("BEGIN IMMEDIATE;", step.sql,
                                           "PRAGMA application_id = ", kApplicationId,
                                           "; PRAGMA user_version = ", step.version, "; COMMIT"));
    if (!done) {
      Error error = within_context(str("schema version ", step.version), done.error());
      if (database.in_transaction()) TRY(database.execute("ROLLBACK"));
      return error;
    }
  }
  return {};
}

Result<void> check_identity(Database& database, bool may_be_new) {
  const auto tables = database.integer("SELECT count(*) FROM sqlite_master");
  if (!tables) {
    return fail(ErrorKind::io, tables.error().message, "; restore it from a copy, or salvage it ",
                "with: sqlite3 FILE .recover");
  }
  const std::int64_t application = TRY(database.integer("PRAGMA application_id"));
  const std::int64_t version = TRY(database.integer("PRAGMA user_version"));
  if (*tables == 0 && application == 0) {
    if (may_be_new) return {};
    return fail(ErrorKind::io, database.path(), ": is empty: no sweep was stored in it yet");
  }
  if (application != kApplicationId) {
    return fail(ErrorKind::io, database.path(),
                ": is a database of another program; name another file");
  }
  if (version > schema_version()) {
    return fail(ErrorKind::io, database.path(), ": has schema version ", version,
                ", and this program knows up to ", schema_version(),
                "; use the headsplit that wrote it, or a newer one");
  }
  return {};
}

Result<void> check_integrity(Database& database) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(database.path(), ignored);
  if (ignored || size > kCheckedBytesMax) return {};
  const auto found = database.text("PRAGMA quick_check(1)");
  if (found && *found == "ok") return {};
  std::string problem = found ? *found : found.error().message;
  problem.resize(std::min(problem.size(), problem.find('\n')));
  return fail(ErrorKind::io, database.path(), ": is corrupt (", problem,
              "); restore it from a copy, or salvage it with: sqlite3 FILE .recover");
}

}  // namespace headsplit::coordinator

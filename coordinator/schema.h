#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "coordinator/sqlite.h"

namespace headsplit::coordinator {

/// Tells our files from other SQLite files: "HSLT".
constexpr std::int64_t kApplicationId = 0x48534C54;

/// One step of the schema: the SQL that leads from the version before to `version`.
struct Migration {
  int version = 0;
  const char* sql = "";
};
/// All steps, ascending from 1.  Steps are never edited, only added.
std::span<const Migration> migrations();

/// The version this program writes: that of the last step.
int schema_version();

/// Runs the steps that the database lacks, each in a transaction of its own, with the version.
Result<void> migrate(Database& database, std::span<const Migration> steps);

/// Fails: io (of another program, of a newer schema: says both versions).  A file with nothing in
/// it passes where `may_be_new`.
Result<void> check_identity(Database& database, bool may_be_new);

/// Fails: io (corrupt, with the first thing SQLite finds).  Files above 64 MiB are not looked at.
Result<void> check_integrity(Database& database);

}  // namespace headsplit::coordinator

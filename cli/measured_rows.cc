#include "cli/measured_rows.h"

#include "coordinator/store.h"

namespace headsplit::cli {

Result<std::vector<Row>> measured_rows(const std::string& database) {
  if (database.empty()) return std::vector<Row>{};
  const auto reader = coordinator::StoreReader::open(database);
  // A database that cannot be read is bad input here, whatever it is to its own coordinator.
  if (!reader) return fail(ErrorKind::config, "--db: ", reader.error().message);
  return reader.value()->rows({.status = Status::ok});
}

}  // namespace headsplit::cli

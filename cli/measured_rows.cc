#include "cli/measured_rows.h"

#include <set>

#include "coordinator/store.h"
#include "core/nearest.h"

namespace headsplit::cli {

Result<std::vector<Row>> measured_rows(const std::string& database) {
  if (database.empty()) return std::vector<Row>{};
  const auto reader = coordinator::StoreReader::open(database);
  // A database that cannot be read is bad input here, whatever it is to its own coordinator.
  if (!reader) return fail(ErrorKind::config, "--db: ", reader.error().message);
  return reader.value()->rows({.status = Status::ok});
}

Result<tp::Device> device_of(const std::string& name, const std::vector<Row>& rows) {
  tp::Device device = TRY(tp::read_device(name));
  const Ceilings ceilings = tp::ceilings_of_rows(rows, device);
  return tp::with_ceilings(std::move(device), ceilings);
}

Result<tp::TimeModel> time_model(const tp::Device& device, const tp::Model& model,
                                 const std::vector<Row>& rows, const std::string& database) {
  if (database.empty()) return tp::TimeModel(device);
  tp::TimeModel times(device, model, rows);
  if (times.row_count() > 0) return times;
  std::set<std::string> devices;
  for (const auto& row : rows) devices.insert(row.device);
  return fail(ErrorKind::config, "--db ", database, ": no row of ", model.name, "'s widths on ",
              device.title, "; it has rows of: ", joined({devices.begin(), devices.end()}));
}

}  // namespace headsplit::cli

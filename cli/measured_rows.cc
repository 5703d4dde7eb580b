#include "cli/measured_rows.h"

#include <set>

#include "coordinator/answers/row_file.h"
#include "core/nearest.h"

namespace headsplit::cli {

Result<std::vector<Row>> measured_rows(const std::vector<std::string>& paths) {
  auto rows = coordinator::read_row_files(paths);
  if (!rows) return within_context("--db", rows.error());
  std::erase_if(rows.value(), [](const Row& row) { return row.status != Status::ok; });
  return rows;
}

Result<tp::Device> device_of(const std::string& name, const std::vector<Row>& rows) {
  tp::Device device = TRY(tp::read_device(name));
  const Ceilings ceilings = tp::ceilings_of_rows(rows, device);
  return tp::with_ceilings(std::move(device), ceilings);
}

Result<tp::TimeModel> time_model(const tp::Device& device, const tp::Model& model,
                                 const std::vector<Row>& rows,
                                 const std::vector<std::string>& paths) {
  if (paths.empty()) return tp::TimeModel(device);
  tp::TimeModel times(device, model, rows);
  if (times.row_count() > 0) return times;
  std::set<std::string> devices;
  for (const auto& row : rows) devices.insert(row.device);
  return fail(ErrorKind::config, "--db ", joined(paths), ": no row of ", model.name,
              "'s widths on ", device.title,
              "; it has rows of: ", joined({devices.begin(), devices.end()}));
}

}  // namespace headsplit::cli

#include "coordinator/answers/row_file.h"

#include <algorithm>
#include <set>

#include "coordinator/answers/line_file.h"
#include "coordinator/store.h"
#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

Result<std::vector<Row>> rows_of_lines(const std::string& path) {
  LineFile file = TRY(LineFile::open(path));
  std::vector<Row> rows;
  std::size_t number = 0;
  for (std::string line; TRY(file.next(line));) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto row = value_from_text<Row>(line);
    if (!row) return fail(ErrorKind::config, path, ":", number, ": ", row.error().message);
    rows.push_back(std::move(row).value());
  }
  return rows;
}

/// Those of one sweep, by its name in the rows.
Result<std::vector<Row>> of_sweep(std::vector<Row> rows, const std::string& path,
                                  const std::string& sweep) {
  std::set<std::string> names;
  for (const Row& row : rows) names.insert(row.sweep);
  std::erase_if(rows, [&](const Row& row) { return row.sweep != sweep; });
  if (!rows.empty()) return rows;
  return fail(ErrorKind::config, path, ": no sweep '", sweep,
              "'; there are: ", joined({names.begin(), names.end()}));
}

Result<std::vector<Row>> rows_of_database(const std::string& path, const std::string& sweep) {
  auto reader = StoreReader::open(path);
  // A database that cannot be read is bad input here, whatever it is to its own coordinator.
  if (!reader) return Error{ErrorKind::config, reader.error().message};
  if (sweep.empty()) return reader.value()->rows({});
  std::vector<std::string> names;
  for (const SweepSummary& summary : TRY(reader.value()->sweeps())) {
    if (summary.name == sweep || summary.id == sweep) {
      return reader.value()->rows({.sweep = sweep});
    }
    names.push_back(summary.name);
  }
  return fail(ErrorKind::config, path, ": no sweep '", sweep, "'; there are: ", joined(names));
}

}  // namespace

bool is_database(const std::string& path) {
  constexpr const char* kLines[] = {".jsonl", ".ndjson", ".gz"};
  return std::none_of(std::begin(kLines), std::end(kLines),
                      [&](const char* ending) { return path.ends_with(ending); });
}

Result<std::vector<Row>> read_row_file(const std::string& path, const std::string& sweep) {
  if (is_database(path)) return rows_of_database(path, sweep);
  std::vector<Row> rows = TRY(rows_of_lines(path));
  if (sweep.empty()) return rows;
  return of_sweep(std::move(rows), path, sweep);
}

Result<std::vector<Row>> read_row_files(const std::vector<std::string>& paths,
                                        const std::string& sweep) {
  std::vector<Row> rows;
  for (const std::string& path : paths) {
    std::vector<Row> more = TRY(read_row_file(path, sweep));
    rows.insert(rows.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  }
  return rows;
}

}  // namespace headsplit::coordinator

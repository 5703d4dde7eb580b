#include "coordinator/answers/reference_table.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else if (c != '\r' && c != '"') {
      cells.back() += c;
    }
  }
  return cells;
}

/// One line of the file under its heading.
struct Line {
  const std::vector<std::string>& heading;
  std::vector<std::string> cells;
  std::string where;  ///< "file:12"

  const std::string* find(const std::string& column) const {
    const auto at = std::find(heading.begin(), heading.end(), column) - heading.begin();
    return static_cast<std::size_t>(at) < cells.size() ? &cells[static_cast<std::size_t>(at)]
                                                       : nullptr;
  }
  Result<double> number(const std::string& column) const {
    const std::string* cell = find(column);
    if (cell == nullptr) return fail(ErrorKind::config, where, ": no value for ", column);
    double value = 0;
    const char* end = cell->data() + cell->size();
    const auto read = std::from_chars(cell->data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || !(value > 0)) {
      return fail(ErrorKind::config, where, ": ", column, ": '", *cell,
                  "'; legal: a number above 0");
    }
    return value;
  }
};

bool is_of_dense_kernel(const Line& line) {
  const std::string* kernel = line.find("kernel");
  return kernel == nullptr || kernel->starts_with("dense") || *kernel == "mla_dense";
}

Result<ReferenceTime> time_of(const Line& line) {
  ReferenceTime time;
  time.local_heads = static_cast<int>(TRY(line.number("local_heads")));
  time.batch = static_cast<int>(TRY(line.number("batch")));
  time.context = static_cast<std::int64_t>(TRY(line.number("context")));
  time.time_us = TRY(line.number("time_us"));
  if (line.find("query_tokens") != nullptr) {
    time.query_tokens = static_cast<int>(TRY(line.number("query_tokens")));
  }
  if (line.find("top_k") != nullptr) {
    time.top_k = static_cast<int>(TRY(line.number("top_k")));
  }
  if (const std::string* dtype = line.find("kv_dtype")) {
    auto value = enum_from_name<KvDtype>(*dtype);
    if (!value) return within_context(line.where + ": kv_dtype", value.error());
    time.kv_dtype = value.value();
  }
  return time;
}

Result<void> check_heading(const std::vector<std::string>& heading, const std::string& where) {
  for (const char* column : {"local_heads", "batch", "context", "time_us"}) {
    if (std::find(heading.begin(), heading.end(), column) != heading.end()) continue;
    return fail(ErrorKind::config, where, ": no column ", column, "; there are: ", joined(heading));
  }
  return {};
}

}  // namespace

Result<ReferenceTable> read_reference_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorKind::config, path.string(), ": cannot be read");
  ReferenceTable table{path.filename().string(), {}};
  std::vector<std::string> heading;
  std::size_t number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (text.empty() || text[0] == '#') continue;
    const std::string where = str(path.string(), ":", number);
    if (heading.empty()) {
      heading = cells_of(text);
      TRY(check_heading(heading, where));
      continue;
    }
    const Line line{heading, cells_of(text), where};
    if (is_of_dense_kernel(line)) table.times.push_back(TRY(time_of(line)));
  }
  if (table.times.empty()) return fail(ErrorKind::config, path.string(), ": holds no times");
  return table;
}

}  // namespace headsplit::coordinator

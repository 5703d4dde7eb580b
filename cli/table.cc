#include "cli/table.h"

#include <algorithm>
#include <cstdio>

#include "core/check.h"

namespace headsplit::cli {
namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789.+-%x ~") == std::string::npos;
}

std::string padded(const std::string& cell, std::size_t width, bool right) {
  const std::string space(width - cell.size(), ' ');
  return right ? space + cell : cell + space;
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  const std::size_t columns = rows[0].size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, true);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    CHECK(rows[r].size() == columns);
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], rows[r][c].size());
      const bool counts = r == 0 || rows[r][c].empty() || rows[r][c] == "-";
      numeric[c] = numeric[c] && (counts || is_number(rows[r][c]));
    }
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      line += (c == 0 ? "" : "  ") + padded(rows[r][c], widths[c], numeric[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r == 0) text += std::string(line.size(), '-') + "\n";
  }
  return text;
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, units[unit]);
  return text;
}

}  // namespace headsplit::cli

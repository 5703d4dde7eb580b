#include "cli/report_csv.h"

#include "cli/model_options.h"
#include "cli/report_tables.h"
#include "core/nearest.h"

namespace headsplit::cli {
namespace {

std::string on_one_line(std::string text) {
  for (char& byte : text) {
    if (byte == '\n' || byte == '\r') byte = ' ';
  }
  return text;
}

json::array flat_lines(const Report& report) {
  json::array lines;
  for (const auto& cell : report.cells) {
    json::object identity = to_json(cell).as_object();
    identity.erase("lines");
    for (const auto& line : cell.lines) {
      json::object flat = identity;
      const json::value members = to_json(line);
      for (const auto& member : members.get_object()) flat[member.key()] = member.value();
      lines.push_back(std::move(flat));
    }
  }
  return lines;
}

}  // namespace

std::string report_csv(const Report& report) {
  std::string text;
  for (const auto& sweep : report.sweeps) {
    text += str("# sweep ", on_one_line(sweep.name), ": ", sweep.done(), " of ", sweep.points,
                " points, ", sweep.ok, " ok\n");
  }
  for (const ReportTable& table : summary_tables(report)) {
    text += str("# ", table.title, ": ", joined(table.heading, " | "), "\n");
    for (const auto& line : table.lines) text += "#   " + on_one_line(joined(line, " | ")) + "\n";
  }
  const json::array lines = flat_lines(report);
  return lines.empty() ? text : text + csv_text(lines);
}

}  // namespace headsplit::cli

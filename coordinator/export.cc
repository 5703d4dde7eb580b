#include "coordinator/export.h"

#include <array>
#include <charconv>

namespace headsplit::coordinator {
namespace {

/// Shortest text that reads back as the same number: 12.5, where JSON has 1.25E1.
std::string plain_number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string csv_cell(const json::value& value) {
  if (value.is_null()) return {};
  if (value.is_double()) return plain_number(value.get_double());
  const std::string text =
      value.is_string() ? std::string(value.get_string()) : json::serialize(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void export_csv(std::ostream& out, std::span<const Row> rows) {
  const json::value names = to_json(Row{});
  const char* comma = "";
  for (const auto& member : names.get_object()) {
    out << comma << std::string_view(member.key());
    comma = ",";
  }
  out << "\n";
  for (const Row& row : rows) {
    const json::value values = to_json(row);
    comma = "";
    for (const auto& member : values.get_object()) {
      out << comma << csv_cell(member.value());
      comma = ",";
    }
    out << "\n";
  }
}

}  // namespace

void export_rows(std::ostream& out, std::span<const Row> rows, ExportFormat format) {
  if (format == ExportFormat::csv) return export_csv(out, rows);
  for (const Row& row : rows) out << json_text(row) << "\n";
}

}  // namespace headsplit::coordinator

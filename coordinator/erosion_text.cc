#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "coordinator/erosion.h"

/// The erosion table as people see it.
namespace headsplit::coordinator {
namespace {

constexpr const char* kAbsent = "-";

struct Column {
  const char* title;
  bool left = false;
};
constexpr std::array kColumns = {
    Column{"batch"},          Column{"query tokens"}, Column{"context"},
    Column{"layout", true},   Column{"local heads"},  Column{"time us"},
    Column{"p10-p90 us"},     Column{"speed-up"},     Column{"TP efficiency"},
    Column{"intensity"},      Column{"from", true},   Column{"reuse retained"},
    Column{"KV duplication"}, Column{"GB/s"},         Column{"GFLOP/s"}};
using Line = std::array<std::string, kColumns.size()>;

std::string with_format(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Four figures, never an exponent: 0.1234, 12.34, 1234, 1234567.
std::string figure(std::optional<double> value) {
  if (!value) return kAbsent;
  const double size = std::abs(*value);
  return with_format(size < 1      ? "%.4f"
                     : size < 10   ? "%.3f"
                     : size < 100  ? "%.2f"
                     : size < 1000 ? "%.1f"
                                   : "%.0f",
                     *value);
}

std::string percent(std::optional<double> fraction) {
  return fraction ? with_format("%.1f%%", *fraction * 100) : kAbsent;
}

std::string range(std::optional<double> low, std::optional<double> high) {
  return low && high ? figure(low) + "-" + figure(high) : kAbsent;
}

Line cells_of(const ErosionCell& cell, const ErosionLine& line) {
  const bool ok = line.status == Status::ok;
  return {str(cell.batch),
          str(cell.query_tokens),
          str(cell.context),
          line.layout + (line.resumed ? "*" : ""),
          str(line.local_heads),
          ok ? figure(line.time_us) : enum_name(line.status),
          range(line.time_p10_us, line.time_p90_us),
          line.speedup ? with_format("%.2f", *line.speedup) : kAbsent,
          percent(line.efficiency),
          figure(line.intensity_flop_per_byte),
          line.intensity_flop_per_byte ? enum_name(line.intensity_source) : kAbsent,
          percent(line.reuse_retained),
          line.kv_duplication ? str(*line.kv_duplication, "x") : kAbsent,
          figure(line.gbps),
          figure(line.gflops)};
}

/// Cells that share a table have this in common.
std::string group_of(const ErosionCell& cell) {
  return str(cell.sweep.empty() ? "" : cell.sweep + ": ", cell.model, " ", cell.kernel, " ",
             enum_name(cell.kv_dtype), ", L2 ", enum_name(cell.l2), ", lengths ",
             enum_name(cell.lengths), ", ranks ", enum_name(cell.ranks),
             cell.fixed_splits > 0 ? str(", splits fixed at ", cell.fixed_splits) : std::string(),
             cell.top_k > 0 ? str(", top_k ", cell.top_k) : std::string());
}

std::string heading_of(std::span<const ErosionCell> cells) {
  const auto measured = std::find_if(cells.begin(), cells.end(),
                                     [](const ErosionCell& cell) { return !cell.device.empty(); });
  const std::string device =
      measured == cells.end() ? "no device" : measured->device + " (" + measured->backend + ")";
  return group_of(cells.front()) + "; on " + device + "; per rank and layer";
}

std::string line_text(const Line& line, const std::array<std::size_t, kColumns.size()>& widths) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string space(widths[i] - line[i].size(), ' ');
    text += (i == 0 ? "" : "  ") + (kColumns[i].left ? line[i] + space : space + line[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

/// Columns of one table; an empty first cell stands for a blank line.
std::string table_of(const std::vector<Line>& lines) {
  std::array<std::size_t, kColumns.size()> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) text += line[0].empty() ? "\n" : line_text(line, widths);
  return text;
}

Line titles() {
  Line line;
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = kColumns[i].title;
  return line;
}

}  // namespace

std::string erosion_text(std::span<const ErosionCell> cells) {
  std::string text;
  bool resumed = false;
  while (!cells.empty()) {
    const std::string group = group_of(cells.front());
    const auto end = std::find_if(cells.begin(), cells.end(),
                                  [&](const ErosionCell& cell) { return group_of(cell) != group; });
    const auto table = cells.first(static_cast<std::size_t>(end - cells.begin()));
    cells = cells.subspan(table.size());
    std::vector<Line> lines = {titles()};
    for (const ErosionCell& cell : table) {
      if (lines.size() > 1) lines.push_back({});
      for (const ErosionLine& line : cell.lines) {
        lines.push_back(cells_of(cell, line));
        resumed = resumed || line.resumed;
      }
    }
    text += (text.empty() ? "" : "\n") + heading_of(table) + "\n\n" + table_of(lines);
  }
  if (resumed) text += "\n* kept from an earlier run of the sweep\n";
  return text;
}

std::vector<std::string> erosion_notes(std::span<const ErosionCell> cells) {
  std::vector<std::string> notes;
  for (const ErosionCell& cell : cells) {
    for (const ErosionLine& line : cell.lines) {
      if (line.repeats_ok == line.repeats) continue;
      std::string note =
          str(cell.kernel, " ", line.layout, " B=", cell.batch, " T=", cell.query_tokens,
              " L=", cell.context, " ", enum_name(cell.kv_dtype), ": ");
      if (line.status == Status::ok) {
        note += str(line.repeats - line.repeats_ok, " of ", line.repeats, " repeats not ok: ");
      } else {
        note += enum_name(line.status) + ": ";
      }
      notes.push_back(note + line.reason);
    }
  }
  return notes;
}

}  // namespace headsplit::coordinator

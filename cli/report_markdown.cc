#include "cli/report_markdown.h"

#include <cstdio>

namespace headsplit::cli {
namespace {

using coordinator::ErosionCell;
using coordinator::ErosionLine;
using coordinator::SweepView;

/// A text as itself: without what markdown or HTML would read, and on one line.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '\n' || byte == '\r') {
      safe += ' ';
    } else if (byte == '<') {
      safe += "&lt;";
    } else if (byte == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#>").find(byte) != std::string_view::npos) safe += '\\';
      safe += byte;
    }
  }
  return safe;
}

std::string figure(const std::optional<double>& value, const char* format) {
  if (!value) return "";
  char text[64];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

/// Four digits, or all before the point.
std::string figure(const std::optional<double>& value) {
  return figure(value, value && *value >= 1e4 ? "%.0f" : "%.4g");
}

std::string percent(const std::optional<double>& ratio) {
  return ratio ? figure(*ratio * 100, "%.1f %%") : "";
}

std::string intensity(const ErosionLine& line) {
  const std::string value = figure(line.intensity_flop_per_byte);
  return value.empty() ? value : value + " (" + enum_name(line.intensity_source) + ")";
}

std::string sweep_line(const SweepView& sweep) {
  std::string text = str("- **", escaped(sweep.name), "**: ", sweep.done(), " of ", sweep.points,
                         " points, ", sweep.ok, " ok");
  if (sweep.failed > 0) text += str(", ", sweep.failed, " failed");
  if (sweep.skipped > 0) text += str(", ", sweep.skipped, " skipped");
  if (sweep.cancelled > 0) text += str(", ", sweep.cancelled, " cancelled");
  return text + "\n";
}

std::string heading(const ErosionCell& cell) {
  return str("## ", escaped(cell.kernel), ", B=", cell.batch, ", T=", cell.query_tokens,
             ", L=", cell.context, ", ", enum_name(cell.kv_dtype), "\n\n", escaped(cell.sweep),
             ": ", escaped(cell.model), " on ", escaped(cell.device), ", ", enum_name(cell.lengths),
             " lengths, ", enum_name(cell.l2), " L2, ", enum_name(cell.ranks), " ranks.\n\n");
}

constexpr const char* kHead =
    "| layout | ranks | heads of a rank | time (us) | speed-up | efficiency | AI (FLOP/byte) | "
    "reuse retained | KV copies | GB/s | GFLOP/s | note |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n";

/// What is not as it should be: why nothing is ok, or how many of the repeats are.
std::string note_of(const ErosionLine& line) {
  if (line.status != Status::ok) return enum_name(line.status) + ": " + escaped(line.reason);
  if (line.repeats_ok == line.repeats) return line.resumed ? "resumed" : "";
  return str(line.repeats_ok, " of ", line.repeats, " repeats ok: ", escaped(line.reason));
}

std::string table_line(const ErosionLine& line) {
  const std::string parts[] = {
      escaped(line.layout), str(line.rank_count),         str(line.local_heads),
      figure(line.time_us), figure(line.speedup, "%.2f"), percent(line.efficiency),
      intensity(line),      percent(line.reuse_retained), str(line.kv_duplication),
      figure(line.gbps),    figure(line.gflops),          note_of(line)};
  std::string text = "|";
  for (const std::string& part : parts) text += " " + part + " |";
  return text + "\n";
}

}  // namespace

std::string report_markdown(const std::vector<coordinator::ReportSweep>& sweeps,
                            std::span<const ErosionCell> cells) {
  std::string text = "# headsplit report\n\n";
  for (const auto& one : sweeps) text += sweep_line(one.sweep);
  text += "\nTime is of rank 0's share of one layer's attention; ratios are against tp1.\n";
  for (const ErosionCell& cell : cells) {
    text += "\n" + heading(cell) + kHead;
    for (const ErosionLine& line : cell.lines) text += table_line(line);
  }
  return text;
}

}  // namespace headsplit::cli

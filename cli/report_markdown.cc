#include "cli/report_markdown.h"

#include <cstdio>

#include "cli/report_tables.h"

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

std::string percent(const std::optional<double>& ratio) {
  return ratio ? figure(*ratio * 100, "%.1f %%") : "";
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
             ": ", escaped(cell.model), cell.device.empty() ? "" : " on " + escaped(cell.device),
             ", ", enum_name(cell.lengths), " lengths, ", enum_name(cell.l2), " L2, ",
             enum_name(cell.ranks), " ranks",
             cell.fixed_splits > 0 ? str(", splits fixed at ", cell.fixed_splits) : std::string(),
             cell.top_k > 0 ? str(", top_k ", cell.top_k) : std::string(), ".\n\n");
}

constexpr const char* kHead =
    "| layout | ranks | local heads | time us | model us | roofline us | of roofline | limiter | "
    "speed-up | efficiency | AI measured | AI model | reuse retained | DRAM MB | model MB | "
    "KV copies | GB/s | GFLOP/s | note |\n"
    "|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n";

/// What is not as it should be: why nothing is ok, or how many of the repeats are.
std::string note_of(const ErosionLine& line) {
  if (line.status != Status::ok) return enum_name(line.status) + ": " + escaped(line.reason);
  std::string note = line.resumed ? "resumed" : "";
  if (line.throttled > 0) {
    note += str(note.empty() ? "" : "; ", line.throttled, " of ", line.repeats_ok, " throttled");
  }
  if (line.repeats_ok == line.repeats) return note;
  return str(note, note.empty() ? "" : "; ", line.repeats_ok, " of ", line.repeats,
             " repeats ok: ", escaped(line.reason));
}

std::optional<double> measured_intensity(const ErosionLine& line) {
  if (line.intensity_source != Provenance::measured) return std::nullopt;
  return line.intensity_flop_per_byte;
}

std::string megabytes(const std::optional<double>& bytes) {
  constexpr double kMega = 1e6;
  return bytes ? figure_text(*bytes / kMega) : "";
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string table_line(const ErosionLine& line) {
  return line_of({escaped(line.layout), str(line.rank_count), str(line.local_heads),
                  figure_text(line.time_us), figure_text(line.time_model_us),
                  figure_text(line.time_roofline_us), percent(line.roofline_fraction),
                  enum_name(line.limiter), figure(line.speedup, "%.2f"), percent(line.efficiency),
                  figure_text(measured_intensity(line)),
                  figure_text(line.intensity_model_flop_per_byte), percent(line.reuse_retained),
                  megabytes(line.dram_bytes), megabytes(line.hbm_bytes_model),
                  line.kv_duplication ? str(*line.kv_duplication) : "", figure_text(line.gbps),
                  figure_text(line.gflops), note_of(line)});
}

std::string summary_text(const ReportTable& table) {
  std::string text = "\n## " + table.title + "\n\n";
  if (!table.note.empty()) text += table.note + "\n\n";
  text += line_of(table.heading) + "|";
  for (std::size_t i = 0; i < table.heading.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& line : table.lines) {
    std::vector<std::string> cells;
    for (const std::string& cell : line) cells.push_back(escaped(cell));
    text += line_of(cells);
  }
  return text;
}

}  // namespace

std::string report_markdown(const Report& report) {
  std::string text = "# headsplit report\n\n";
  for (const SweepView& sweep : report.sweeps) text += sweep_line(sweep);
  for (const ReportTable& table : summary_tables(report)) text += summary_text(table);
  if (report.cells.empty()) return text;
  text +=
      "\n# Erosion\n\nTime is of rank 0's share of one layer's attention; ratios are against "
      "tp1. Model: the device's data sheet; roofline: the ceilings measured on the device. "
      "`headsplit reproduce ROW --db FILE` prints the command that measures a row again.\n";
  for (const ErosionCell& cell : report.cells) {
    text += "\n" + heading(cell) + kHead;
    for (const ErosionLine& line : cell.lines) text += table_line(line);
  }
  return text;
}

}  // namespace headsplit::cli

#include "cli/report_tables.h"

#include <cmath>
#include <cstdio>
#include <ctime>

#include "cli/attention_cells.h"
#include "core/nearest.h"

namespace headsplit::cli {
namespace {

using coordinator::BreakEven;
using coordinator::MachineFacts;
using coordinator::Turns;

std::string with_unit(const std::optional<double>& value, const char* unit) {
  return value ? figure_text(value) + " " + unit : "not known";
}

std::string clocks_text(const MachineFacts& facts) {
  if (!facts.sm_clock_median_mhz) return "not known";
  return str(figure_text(facts.sm_clock_low_mhz), " to ", figure_text(facts.sm_clock_high_mhz),
             " MHz, median ", figure_text(facts.sm_clock_median_mhz));
}

std::string throttled_text(const MachineFacts& facts) {
  std::string text = str(facts.rows_throttled, " of ", facts.rows_ok, " rows");
  for (const auto& [reason, rows] : facts.throttle_reasons) text += str("; ", reason, " ", rows);
  return text;
}

std::string or_unknown(const std::string& text) { return text.empty() ? "not known" : text; }

/// One column a machine.
ReportTable machines_table(const std::vector<MachineFacts>& machines) {
  ReportTable table{.title = "Machines", .heading = {"fact"}};
  table.note = "Clocks, power and temperature as read while rows were measured.";
  struct Fact {
    const char* name;
    std::string (*text)(const MachineFacts&);
  };
  constexpr Fact kFacts[] = {
      {"device", [](const MachineFacts& m) { return or_unknown(m.device); }},
      {"GPU UUID", [](const MachineFacts& m) { return or_unknown(m.gpu_uuid); }},
      {"backend", [](const MachineFacts& m) { return or_unknown(m.backend); }},
      {"driver", [](const MachineFacts& m) { return or_unknown(m.driver); }},
      {"CUDA", [](const MachineFacts& m) { return or_unknown(m.cuda); }},
      {"builds", [](const MachineFacts& m) { return joined(m.builds); }},
      {"measured",
       [](const MachineFacts& m) {
         return time_text(m.first_unix_s) + " to " + time_text(m.last_unix_s);
       }},
      {"SM clock", clocks_text},
      {"memory clock",
       [](const MachineFacts& m) { return with_unit(m.memory_clock_median_mhz, "MHz"); }},
      {"power, median", [](const MachineFacts& m) { return with_unit(m.power_median_w, "W"); }},
      {"power, highest", [](const MachineFacts& m) { return with_unit(m.power_high_w, "W"); }},
      {"temperature, highest",
       [](const MachineFacts& m) { return with_unit(m.temperature_high_c, "C"); }},
      {"streaming read, measured",
       [](const MachineFacts& m) { return with_unit(m.read_ceiling_gbps, "GB/s"); }},
      {"dense matmul, measured",
       [](const MachineFacts& m) { return with_unit(m.matmul_ceiling_tflops, "TFLOP/s"); }},
      {"throttled", throttled_text}};
  for (const MachineFacts& facts : machines) table.heading.push_back(or_unknown(facts.node));
  if (machines.empty()) return table;
  for (const Fact& fact : kFacts) {
    table.lines.push_back({fact.name});
    for (const MachineFacts& facts : machines) table.lines.back().push_back(fact.text(facts));
  }
  return table;
}

ReportTable limiters_table(const Report& report) {
  ReportTable table{
      .title = "Which limiter holds",
      .heading = {"model", "kernel", "KV", "query tokens", "layout", "local heads", "mostly",
                  "memory", "tensor", "dequantisation", "overhead", "unknown"}};
  table.note = "Points of each layout by what held them back.";
  for (const auto& one : report.limiters) {
    table.lines.push_back({one.model, one.kernel, enum_name(one.kv_dtype), str(one.query_tokens),
                           one.layout, str(one.local_heads), enum_name(one.mostly), str(one.memory),
                           str(one.tensor), str(one.dequantisation), str(one.overhead),
                           str(one.unknown)});
  }
  return table;
}

std::string turn_text(const BreakEven& one) {
  switch (one.turns) {
    case Turns::always: return str("always (from batch ", one.batch_low, ")");
    case Turns::never: return str("never (up to batch ", one.batch_high, ")");
    case Turns::at: return "batch " + figure_text(std::round(*one.batch * 10) / 10);
  }
  return "";
}

ReportTable break_evens_table(const Report& report) {
  ReportTable table{.title = "Break-evens",
                    .heading = {"sweep", "kernel", "KV", "ranks", "query tokens", "context",
                                "layout", "is faster than", "from"}};
  table.note =
      "By measured times of the attention core; collectives count where ranks are real only.";
  for (const BreakEven& one : report.break_evens) {
    table.lines.push_back({one.sweep, one.kernel, enum_name(one.kv_dtype), enum_name(one.ranks),
                           str(one.query_tokens), str(one.context), one.to, one.from,
                           turn_text(one)});
  }
  return table;
}

ReportTable attention_report_table(const Report& report) {
  ReportTable table{.title = "Arithmetic intensity by structure", .note = attention_note()};
  auto cells = attention_cells(report.attention);
  if (cells.empty()) return table;
  table.heading = std::move(cells.front());
  table.lines.assign(std::next(cells.begin()), cells.end());
  return table;
}

ReportTable troubles_table(const Report& report) {
  ReportTable table{.title = "Skipped, failed, throttled",
                    .heading = {"what", "rows", "reason", "such as"}};
  for (const auto& one : report.troubles) {
    table.lines.push_back(
        {enum_name(one.kind), str(one.rows), or_unknown(one.reason), joined(one.examples, "; ")});
  }
  return table;
}

}  // namespace

std::string figure_text(const std::optional<double>& value) {
  if (!value) return "";
  char text[64];
  std::snprintf(text, sizeof text, *value >= 1e4 ? "%.0f" : "%.4g", *value);
  return text;
}

std::string time_text(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

std::vector<ReportTable> summary_tables(const Report& report) {
  std::vector<ReportTable> tables = {troubles_table(report), machines_table(report.machines),
                                     limiters_table(report), break_evens_table(report),
                                     attention_report_table(report)};
  std::erase_if(tables, [](const ReportTable& table) { return table.lines.empty(); });
  return tables;
}

}  // namespace headsplit::cli

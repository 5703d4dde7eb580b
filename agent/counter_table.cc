#include "agent/counter_table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headsplit::agent {

namespace {

using enum Figure;
using enum CounterSet;

// Names differ by chip.  Which fit one pass was tried with the host API of CUPTI 13.0
// (tests/agent/counter_table_test.cc tries it again): FP8 operations fit beside the others on
// GH100 alone, and need a pass of their own on Ada and Blackwell.
constexpr std::array kTable{
    CounterRow{dram_bytes_read, standard, "dram__bytes_read.sum",
               "GA100 GA102 GA103 GA104 GA106 GA107 AD10 GH100 GB100 GB102 GB110"},
    CounterRow{dram_bytes_read, standard, "dram__bytes_op_read.sum",
               "GB202 GB203 GB205 GB206 GB207"},
    CounterRow{dram_bytes_written, standard, "dram__bytes_write.sum",
               "GA100 GA102 GA103 GA104 GA106 GA107 AD10 GH100 GB100 GB102 GB110"},
    CounterRow{dram_bytes_written, standard, "dram__bytes_op_write.sum",
               "GB202 GB203 GB205 GB206 GB207"},
    CounterRow{bf16_ops, standard, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "GA GH AD GB"},
    CounterRow{fp16_ops, detail, "sm__ops_path_tensor_src_fp16.sum", "GH100"},
    CounterRow{fp16_ops, detail, "sm__ops_path_tensor_src_fp16_dst_fp32.sum", "GA AD GB"},
    CounterRow{fp8_ops, standard, "sm__ops_path_tensor_src_fp8.sum", "GH100"},
    CounterRow{fp8_ops, detail, "sm__ops_path_tensor_src_fp8.sum", "AD10"},
    CounterRow{fp8_ops, detail, "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum",
               "GB100 GB102 GB10B"},
    CounterRow{fp8_ops, detail, "sm__ops_path_tensor_src_fp8_dst_fp32.sum", "GB110 GB2"},
    CounterRow{l2_bytes, standard, "lts__t_bytes.sum", "GA GH AD GB"},
    CounterRow{range_time, standard, "gpu__time_duration.sum", "GA GH AD GB"},
    CounterRow{l2_hit, detail, "lts__t_sector_hit_rate.pct", "GA GH AD GB"},
    CounterRow{tensor_active, detail,
               "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "GA GH AD GB"},
    CounterRow{issue_active, detail, "sm__inst_issued.avg.pct_of_peak_sustained_active",
               "GA GH AD GB"},
    CounterRow{warps_active, detail, "sm__warps_active.avg.pct_of_peak_sustained_active",
               "GA GH AD GB"},
    CounterRow{dram_active, detail, "dram__throughput.avg.pct_of_peak_sustained_elapsed",
               "GA100 GA102 GA103 GA104 GA106 GA107 AD10 GH100 GB100 GB102 GB110 GB202 GB203 "
               "GB205 GB206 GB207"},
};

constexpr std::array<std::string_view, 22> kSupportedChips{
    "GA100", "GA102", "GA103", "GA104", "GA106", "GA107", "AD102", "AD103",
    "AD104", "AD106", "AD107", "GH100", "GB100", "GB102", "GB110", "GB202",
    "GB203", "GB205", "GB206", "GB207", "GB10B", "GB20B"};

bool has_counter(const CounterRow& row, std::string_view chip) {
  for (std::size_t begin = 0; begin < row.chips.size();) {
    const std::size_t end = std::min(row.chips.find(' ', begin), row.chips.size());
    if (chip.starts_with(row.chips.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

void add(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

void assign(Counts& counts, Figure figure, double value) {
  switch (figure) {
    case dram_bytes_read: add(counts.dram_bytes_read, value); break;
    case dram_bytes_written: add(counts.dram_bytes_written, value); break;
    case bf16_ops:
    case fp16_ops:
    case fp8_ops: add(counts.tensor_ops, value); break;
    case l2_bytes: add(counts.l2_bytes, value); break;
    case l2_hit: counts.l2_hit_ratio = value / 100; break;
    case tensor_active: counts.tensor_active_ratio = value / 100; break;
    case issue_active: counts.issue_active_ratio = value / 100; break;
    case warps_active: counts.occupancy = value / 100; break;
    case range_time:
    case dram_active: break;  // in Counts::all only
  }
}

void add_reason(std::string& reason, const std::string& more) {
  reason += (reason.empty() ? "" : "; ") + more;
}

bool counted(std::span<const CounterValue> values, Figure figure) {
  return std::ranges::any_of(values, [&](const auto& v) { return v.row.figure == figure; });
}

}  // namespace

std::span<const CounterRow> counter_table() { return kTable; }
std::span<const std::string_view> supported_chips() { return kSupportedChips; }

std::vector<CounterRow> counters_of(std::string_view chip, CounterSet set) {
  std::vector<CounterRow> rows;
  for (const CounterRow& row : kTable) {
    if (row.set == set && has_counter(row, chip)) rows.push_back(row);
  }
  return rows;
}

Counts counts_from(std::string_view chip, std::span<const CounterValue> values,
                   std::span<const CounterRow> missing) {
  Counts counts;
  for (const auto& [row, value] : values) {
    counts.all[row.metric] = std::isfinite(value) ? json::value(value) : json::value(nullptr);
    if (std::isfinite(value)) {
      assign(counts, row.figure, value);
    } else {
      add_reason(counts.reason, str(row.metric, " has no finite value"));
    }
  }
  for (const CounterRow& row : missing) {
    counts.all[row.metric] = nullptr;
    add_reason(counts.reason, str(chip, " does not offer ", row.metric));
  }
  for (Figure figure : {dram_bytes_read, dram_bytes_written}) {
    const bool asked = counted(values, bf16_ops);  // the standard set
    if (asked && !counted(values, figure) &&
        std::ranges::none_of(missing, [&](const auto& row) { return row.figure == figure; })) {
      add_reason(counts.reason, str("no counter for ", enum_name(figure), " on ", chip));
    }
  }
  if (counted(values, bf16_ops) && !counted(values, fp8_ops) &&
      !counters_of(chip, detail).empty() &&
      std::ranges::any_of(counters_of(chip, detail),
                          [](const auto& row) { return row.figure == fp8_ops; })) {
    if (counts.tensor_ops == 0.0) counts.tensor_ops.reset();
    add_reason(counts.reason,
               str("FP8 tensor operations need the detail set on ", chip, ": not counted"));
  }
  return counts;
}

Counts no_counts(const std::string& reason) {
  Counts counts;
  counts.reason = reason;
  return counts;
}

}  // namespace headsplit::agent

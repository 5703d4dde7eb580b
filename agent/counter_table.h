#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/device.h"

namespace headsplit::agent {

/// standard: one pass, with every row.  detail: on request, several passes, the launch repeated.
enum class CounterSet { standard, detail };
BOOST_DESCRIBE_ENUM(CounterSet, standard, detail)

/// What a counter tells, whatever its name on a chip.
enum class Figure {
  dram_bytes_read,
  dram_bytes_written,
  bf16_ops,  ///< tensor-core operations on bf16, one multiply-add is two; padding included
  fp16_ops,  ///< the same on f16, as the FP8 cache becomes
  fp8_ops,
  l2_bytes,
  range_time,  ///< kept for reference: 20 to 50 us more than the launch itself takes
  l2_hit,      ///< percent
  tensor_active,
  issue_active,  ///< what conversions, softmax and addresses take of the CUDA cores
  warps_active,
  dram_active,
};
BOOST_DESCRIBE_ENUM(Figure, dram_bytes_read, dram_bytes_written, bf16_ops, fp16_ops, fp8_ops,
                    l2_bytes, range_time, l2_hit, tensor_active, issue_active, warps_active,
                    dram_active)

/// One counter: what it tells, its name, the set it is collected in, and the chips that have it
/// under this name.
struct CounterRow {
  Figure figure;
  CounterSet set;
  std::string_view metric;
  std::string_view chips;  ///< beginnings of chip names, with spaces between
};

/// All counters of all chips, one row a counter.
std::span<const CounterRow> counter_table();

/// The rows of one set on one chip (the host library's name for it: "GH100"), in table order.
std::vector<CounterRow> counters_of(std::string_view chip, CounterSet set);

/// Chips whose sets the tests check against the host library.
std::span<const std::string_view> supported_chips();

/// One counter and its value.
struct CounterValue {
  CounterRow row;
  double value = 0;
};

/// Counts from values; `missing` are rows that the chip or its driver refused.  A figure that was
/// not counted stays absent and is named in the reason: tensor operations are absent when FP8 ones
/// exist on the chip, were not counted, and no other tensor operation was seen.
Counts counts_from(std::string_view chip, std::span<const CounterValue> values,
                   std::span<const CounterRow> missing);

/// What a process without working counters reports: nothing, and why.
Counts no_counts(const std::string& reason);

}  // namespace headsplit::agent

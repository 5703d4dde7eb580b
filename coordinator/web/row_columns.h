#pragma once

#include <optional>
#include <vector>

#include "core/json.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// Rows column by column, which is a tenth of their size as objects:
///   {"count": n, "columns": {"tp": {"values": [1, 2]}, "kernel": {"words": [..], "index": [..]},
///    "driver": {"all": ".."}}}
/// Every field of a row but its samples and raw counters, and `time_us_model`, the roofline's time.
/// Numbers are rounded to 7 digits; `/rows` and `headsplit export` have them whole.
/// times_us_model: [rows].
json::object columns_of(const std::vector<Row>& rows,
                        const std::vector<std::optional<double>>& times_us_model);

}  // namespace headsplit::coordinator

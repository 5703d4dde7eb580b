#pragma once

#include <string>
#include <vector>

#include "cli/report_value.h"

namespace headsplit::cli {

/// A table of a report as plain text: what each format writes in its own way.
struct ReportTable {
  std::string title;
  std::string note;  ///< one sentence under the title; may be empty
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> lines;  ///< each as long as the heading
};

/// All of a report but its erosion tables: machines, limiters by layout, break-evens,
/// intensities by structure of attention, and what was skipped, failed, throttled or not counted
/// and why.  Tables without lines are left out.
std::vector<ReportTable> summary_tables(const Report& report);

/// A figure with four digits (all before the point), or nothing.
std::string figure_text(const std::optional<double>& value);

/// "2026-11-29 20:20:19 UTC"
std::string time_text(double unix_s);

}  // namespace headsplit::cli

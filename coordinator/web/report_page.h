#pragma once

#include <string>
#include <vector>

#include "coordinator/scheduler.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// One sweep of a report, and its rows.
struct ReportSweep {
  SweepView sweep;
  std::vector<Row> rows;
};

/// The page with everything in it: summary (an HTML section, shown first), styles, scripts, plots
/// and these sweeps, in one HTML text that works from file:// and loads nothing.  Its policy lets
/// only the scripts of this build run, so whatever a row holds stays text.
std::string report_page(const std::vector<ReportSweep>& sweeps, const std::string& summary = "");

}  // namespace headsplit::coordinator

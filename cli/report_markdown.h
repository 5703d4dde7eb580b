#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/erosion.h"
#include "coordinator/web/report_page.h"

namespace headsplit::cli {

/// Sweeps and their cells as GitHub-flavoured markdown: how far each sweep is, a table a problem,
/// and what did not run.  Texts of rows cannot make markup: what markdown reads is escaped.
std::string report_markdown(const std::vector<coordinator::ReportSweep>& sweeps,
                            std::span<const coordinator::ErosionCell> cells);

}  // namespace headsplit::cli

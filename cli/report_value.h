#pragma once

#include <vector>

#include "coordinator/answers/break_even.h"
#include "coordinator/answers/limiter_count.h"
#include "coordinator/answers/machine.h"
#include "coordinator/answers/trouble.h"
#include "coordinator/attention_table.h"
#include "coordinator/erosion.h"
#include "coordinator/web/report_page.h"

namespace headsplit::cli {

/// Everything that a report says, whatever its format.
struct Report {
  std::vector<coordinator::SweepView> sweeps;
  std::vector<coordinator::MachineFacts> machines;
  std::vector<coordinator::LimiterCount> limiters;
  std::vector<coordinator::BreakEven> break_evens;
  std::vector<coordinator::Trouble> troubles;
  std::vector<coordinator::AttentionLine> attention;  ///< structures beside each other
  std::vector<coordinator::ErosionCell> cells;
};
BOOST_DESCRIBE_STRUCT(Report, (),
                      (sweeps, machines, limiters, break_evens, troubles, attention, cells))

/// What sweeps and their rows say.  Rows of collectives alone have no erosion and are in `machines`
/// and `troubles` only.
Report report_of(const std::vector<coordinator::ReportSweep>& sweeps);

}  // namespace headsplit::cli

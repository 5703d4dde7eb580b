#include "cli/report_value.h"

#include "coordinator/web/row_model.h"

namespace headsplit::cli {

Report report_of(const std::vector<coordinator::ReportSweep>& sweeps) {
  Report report;
  coordinator::RowModel model;
  const auto model_time_us = [&](const Row& row) { return model.time_us(row); };
  std::vector<const Row*> rows;
  for (const auto& one : sweeps) {
    report.sweeps.push_back(one.sweep);
    for (const Row& row : one.rows) rows.push_back(&row);
    const auto cells = coordinator::erosion(one.rows, model_time_us);
    report.cells.insert(report.cells.end(), cells.begin(), cells.end());
  }
  report.machines = coordinator::machines_of(rows);
  report.troubles = coordinator::troubles_of(rows);
  report.limiters = coordinator::limiters_of(report.cells);
  report.break_evens = coordinator::break_evens_of(report.cells);
  report.attention = coordinator::attention_table(report.cells);
  return report;
}

}  // namespace headsplit::cli

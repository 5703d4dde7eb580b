#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {
namespace {

std::vector<Panel> numbers() {
  return {
      stat("Done", "Points of the current sweep that have their row, whatever its status.",
           "percentunit", {"avg(instance:headsplit_points_done:ratio{@all})", "done"}),
      stat("Time left", "What is open, at the rate of the last five minutes.", "s",
           {"max(instance:headsplit_sweep_remaining_seconds:ratio_rate5m{@all})", "time left"}),
      stat("Rows per minute", "Rows stored in the last five minutes.", "none",
           {"sum(instance:headsplit_rows:rate5m{@all}) * 60", "rows per minute"}),
      stat("Failed points", "Points of the current sweep whose row says failed.", "none",
           {"sum(headsplit_points{@all, state=\"failed\"})", "failed"}),
      stat("Resumed points", "Points of the current sweep that an earlier run left done.", "none",
           {"sum(headsplit_points_resumed{@all})", "resumed"}),
      stat("Sweeps running", "Sweeps with points still open.", "none",
           {"sum(headsplit_sweeps{@all, state=\"running\"})", "running"}),
  };
}

Panel points() {
  return {.title = "Points by state",
          .description =
              "The current sweep. It ends when every point is ok, failed, skipped or "
              "cancelled.",
          .width = 24,
          .queries = {{"sum by (state) (headsplit_points{@all})", "{{state}}"}},
          .defaults = {{"min", 0},
                       {"custom",
                        {{"axisLabel", "points"},
                         {"fillOpacity", 40},
                         {"stacking", {{"mode", "normal"}, {"group", "A"}}}}}}};
}

std::vector<Panel> rates() {
  return {
      {.title = "Rows stored",
       .description = "Rows that became durable, by status.",
       .unit = "ops",
       .queries = {{"sum by (status) (rate(headsplit_rows_total{@all}[$__rate_interval]))",
                    "{{status}}"}},
       .defaults = linear_axis("rows per second")},
      {.title = "Attempts and their failures",
       .description = "Leases granted, and attempts that ended without a row: lost (the agent "
                      "went away), expired (its deadline passed), failed (it said so).",
       .unit = "ops",
       .queries = {{"sum(rate(headsplit_attempts_total{@all}[$__rate_interval]))", "granted"},
                   {"sum by (reason) "
                    "(rate(headsplit_attempt_failures_total{@all}[$__rate_interval]))",
                    "{{reason}}"}},
       .defaults = linear_axis("attempts per second")},
      {.title = "Reports refused",
       .description = "Reports that gave no row: of a superseded attempt (stale), sent again "
                      "(duplicate), or of no known point (invalid).",
       .queries = {{"sum by (reason) "
                    "(increase(headsplit_rows_rejected_total{@all}[$__rate_interval]))",
                    "{{reason}}"}},
       .defaults = linear_axis("reports")},
      {.title = "Queue and leases",
       .description = "Points of all sweeps that wait, and points that agents work on.",
       .queries = {{"sum(headsplit_queue_points{@all})", "waiting"},
                   {"sum(headsplit_leases{@all})", "leased"}},
       .defaults = linear_axis("points")},
      {.title = "Time until a record is durable",
       .description = "From handing a record to the store to the end of its commit. Agents wait "
                      "for it before they forget a row.",
       .unit = "s",
       .queries = {{"instance:headsplit_store_commit_duration_seconds:p50_rate5m{@all}", "median"},
                   {"instance:headsplit_store_commit_duration_seconds:p99_rate5m{@all}",
                    "99th percentile"}},
       .defaults = log_axis("time")},
      {.title = "Records that wait for the store",
       .description = "Handed in and not durable yet.",
       .queries = {{"sum(headsplit_store_queued_records{@all})", "records"}},
       .defaults = linear_axis("records")},
  };
}

Panel current_sweep() {
  return {.title = "Current sweep",
          .description =
              "The sweep that is served, or the last one served. Its plan id is in the "
              "page's address and in every row.",
          .type = "table",
          .width = 24,
          .height = 4,
          .queries = {{"headsplit_sweep_info{@all}", "", true}},
          .transformations = joined_table({{"instance", "Coordinator"},
                                           {"sweep", "Sweep"},
                                           {"plan", "Plan"},
                                           {"backend", "Backend"}})};
}

}  // namespace

Dashboard sweep() {
  std::vector<Panel> panels = numbers();
  panels.push_back(points());
  for (Panel& panel : rates()) panels.push_back(std::move(panel));
  panels.push_back(current_sweep());
  return {.uid = "headsplit-sweep",
          .title = "headsplit / Sweep",
          .description = "How far the sweep is, how fast it goes, and what goes wrong.",
          .panels = std::move(panels)};
}

}  // namespace headsplit::dashboards

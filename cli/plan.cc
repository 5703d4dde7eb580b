#include "cli/plan.h"

#include <cstdio>
#include <memory>

#include "cli/table.h"
#include "coordinator/plan.h"

namespace headsplit::cli {
namespace {

struct Options {
  std::string sweep_file;
  double memory_gb = 0;
  bool json = false;
};

std::vector<std::string> line_of(std::size_t index, const coordinator::PlannedPoint& planned) {
  const Point& point = planned.point;
  return {str(index),
          point.kernel,
          layout_name(point.layout),
          enum_name(point.kv_dtype),
          str(point.batch),
          str(point.query_tokens),
          str(point.context),
          str(planned.problem.local_heads),
          str(planned.problem.batch),
          str(planned.problem.context),
          str(point.repeat),
          bytes_text(static_cast<double>(planned.memory_bytes)),
          planned.reason.empty() ? enum_name(planned.state) : "skipped: " + planned.reason};
}

void print_text(const coordinator::Plan& plan) {
  std::vector<std::vector<std::string>> lines = {
      {"#", "kernel", "layout", "kv", "batch", "query tokens", "context", "local heads",
       "rank batch", "rank context", "repeat", "memory", "state"}};
  std::size_t skipped = 0;
  for (const auto& planned : plan.points) {
    lines.push_back(line_of(lines.size(), planned));
    skipped += planned.state == coordinator::PlannedState::skipped;
  }
  std::printf("%s\n%s (plan %s): %zu points, %zu of them skipped\n", table_text(lines).c_str(),
              plan.name.c_str(), plan.id.c_str(), plan.points.size(), skipped);
}

Result<void> plan_sweep(const Options& options) {
  const coordinator::Sweep sweep = TRY(coordinator::read_sweep(options.sweep_file));
  std::optional<std::int64_t> memory_bytes;
  if (options.memory_gb > 0) memory_bytes = static_cast<std::int64_t>(options.memory_gb * 1e9);
  const coordinator::Plan plan = TRY(coordinator::make_plan(sweep, memory_bytes));
  if (options.json) {
    std::printf("%s\n", json_text(plan.points).c_str());
  } else {
    print_text(plan);
  }
  return {};
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("plan", "List the points of a sweep, without running it");
  verb->footer("Example: headsplit plan configs/sweeps/tp-erosion.yaml --memory-gb 139 --json");
  verb->add_option("sweep", options->sweep_file, "Sweep file (YAML)")->required();
  verb->add_option("--memory-gb", options->memory_gb,
                   "Memory of a device in GB: points that need more are planned as skipped")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--json", options->json, "A JSON list, one object a point with its rank problem");
  verb->callback([options, &outcome] {
    if (auto done = plan_sweep(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli

#include "cli/run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "cli/erosion_table.h"
#include "cli/fleet.h"
#include "cli/gpu_count.h"
#include "cli/sweep_client.h"
#include "coordinator/plan.h"

namespace headsplit::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kAgentsMax = 1024;
constexpr auto kAgentsStartLimit = std::chrono::seconds(60);

struct Options {
  std::string sweep_file;
  std::string name;
  std::string out;
  FleetOptions fleet{.database = "headsplit.db"};
  bool json = false;
};

/// Waits until every agent has joined and gives the least memory any of them has free: a plan has
/// to fit the smallest.
Result<std::int64_t> least_agent_memory_bytes(Fleet& fleet) {
  const auto deadline = std::chrono::steady_clock::now() + kAgentsStartLimit;
  while (true) {
    TRY(fleet.keep_alive());
    const auto agents = TRY(agents_of(fleet.server()));
    if (static_cast<int>(agents.size()) >= fleet.agent_count()) {
      const auto least = std::ranges::min_element(
          agents, {}, [](const auto& view) { return view.agent.memory_bytes; });
      return least->agent.memory_bytes;
    }
    if (interrupted()) return fail(ErrorKind::cancelled, "interrupted before the agents started");
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorKind::timeout, "only ", agents.size(), " of ", fleet.agent_count(),
                  " agents joined within 60 s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string again_with(const Options& options) {
  std::string command = "headsplit run " + options.sweep_file + " --db " + options.fleet.database;
  if (!options.name.empty()) command += " --name " + options.name;
  return command;
}

void tell_resumed(const coordinator::SweepView& view, const Options& options) {
  if (view.resumed == 0) return;
  std::fprintf(stderr,
               view.resumed == view.points
                   ? "all %lld points of '%s' are in %s already; --name or --db measures again\n"
                   : "%lld points of '%s' are in %s already and are kept, marked as resumed\n",
               static_cast<long long>(view.resumed), view.name.c_str(),
               options.fleet.database.c_str());
}

/// Rows as JSON lines beside the table, for tools.
Result<void> write_rows(const std::string& folder, const std::string& name,
                        const std::vector<Row>& rows) {
  const fs::path path = fs::path(folder) / (name + ".jsonl");
  std::ofstream file(path);
  for (const Row& row : rows) file << json_text(row) << "\n";
  file.flush();
  if (!file) return fail(ErrorKind::io, path.string(), ": cannot be written");
  std::fprintf(stderr, "rows are in %s\n", path.c_str());
  return {};
}

Result<ExitCode> run_on(Fleet& fleet, const coordinator::Sweep& sweep, const Options& options) {
  const std::int64_t memory_bytes = TRY(least_agent_memory_bytes(fleet));
  const auto view =
      TRY(submit_sweep(fleet.server(), json_text(sweep), options.sweep_file, memory_bytes, ""));
  tell_resumed(view, options);
  const Watched watched =
      TRY(watch_sweep(fleet.server(), view.id, [&fleet] { return fleet.keep_alive(); }));
  if (watched == Watched::interrupted) {
    std::fprintf(stderr, "stopped; what is measured is kept. Go on with: %s\n",
                 again_with(options).c_str());
    return ExitCode::interrupted;
  }
  const auto rows = TRY(rows_of(fleet.server(), view.id));
  if (!options.out.empty()) TRY(write_rows(options.out, view.name, rows));
  return print_result(rows, options.json);
}

/// Real ranks need an agent each: on the CPU as many as the largest layout has, which then share
/// the processors.
void size_fleet(const coordinator::Sweep& sweep, FleetOptions& fleet) {
  const bool real = std::ranges::find(sweep.ranks, Ranks::real) != sweep.ranks.end();
  const bool on_cpu = fleet.backend == "cpu" || visible_gpu_count() == 0;
  if (!real || !on_cpu) return;
  for (const Layout& layout : sweep.layouts) {
    if (fleet.agents < layout.ranks()) fleet.agents = std::min(layout.ranks(), kAgentsMax);
  }
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  fleet.threads_an_agent = std::max(1, processors / std::max(1, fleet.agents));
}

Result<ExitCode> run(Options options) {
  coordinator::Sweep sweep = TRY(coordinator::read_sweep(options.sweep_file));
  if (!options.name.empty()) sweep.name = options.name;
  // A plan that cannot be made is an error of the file: told before anything is started.
  TRY(coordinator::make_plan(sweep, std::nullopt));
  if (!options.out.empty()) {
    std::error_code error;
    fs::create_directories(options.out, error);
    if (error) return fail(ErrorKind::config, options.out, ": ", error.message());
  }
  options.fleet.log_file = options.fleet.database + ".log";
  const fs::path folder = fs::path(options.fleet.database).parent_path();
  if (!folder.empty() && !fs::is_directory(folder)) {
    return fail(ErrorKind::config, options.fleet.database, ": there is no folder ",
                folder.string());
  }
  size_fleet(sweep, options.fleet);
  catch_interrupts();
  Fleet fleet = TRY(Fleet::start(options.fleet));
  auto code = run_on(fleet, sweep, options);
  fleet.stop();
  if (!code && interrupted()) return ExitCode::interrupted;
  return code;
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("run", "Run a sweep on this machine: coordinator and agents included");
  verb->footer(
      "Ctrl-C stops cleanly; the same command goes on where it stopped, and re-runs nothing that\n"
      "was finished. Example: headsplit run configs/sweeps/quick.yaml --db quick.db --out out\n"
      "In the file, measure: {fixed_splits: N} cuts every request into N parts: batch-invariant\n"
      "(docs/mla-dense.md).");
  verb->add_option("sweep", options->sweep_file, "Sweep file (YAML)")->required();
  verb->add_option("--db", options->fleet.database,
                   "Database: made when missing, resumed when it holds this sweep")
      ->capture_default_str();
  verb->add_option("--backend", options->fleet.backend,
                   "auto (a GPU where there is one, else the CPU), cuda or cpu")
      ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
      ->capture_default_str();
  verb->add_option("--agents", options->fleet.agents,
                   "Agents to start (default: one a GPU; on the CPU one, or one a rank of a gang)")
      ->check(CLI::Range(1, kAgentsMax));
  verb->add_option("--name", options->name, "Another name for the sweep: measures it afresh");
  verb->add_option("--out", options->out, "Folder for the rows as JSON lines");
  verb->add_flag("--json", options->json, "The table as JSON on stdout");
  verb->callback([options, &outcome] {
    const auto code = run(*options);
    if (code) {
      outcome.code = *code;
    } else {
      report_error(code.error(), outcome);
    }
  });
}

}  // namespace headsplit::cli

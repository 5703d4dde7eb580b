#include "cli/watch.h"

#include <memory>

#include "cli/erosion_table.h"
#include "cli/server_options.h"
#include "cli/sweep_client.h"

namespace headsplit::cli {
namespace {

struct Options {
  std::string sweep;
  ServerOptions server;
  bool json = false;
};

/// The sweep of that id or name; with neither given, the newest.
Result<std::string> sweep_id(const Server& server, const std::string& wanted) {
  const auto sweeps = TRY(sweeps_of(server));
  for (auto sweep = sweeps.rbegin(); sweep != sweeps.rend(); ++sweep) {
    if (wanted.empty() || sweep->id == wanted || sweep->name == wanted) return sweep->id;
  }
  if (sweeps.empty()) return fail(ErrorKind::config, server.url, " has no sweeps yet");
  std::string names;
  for (const auto& sweep : sweeps) names += (names.empty() ? "" : ", ") + sweep.name;
  return fail(ErrorKind::config, "no sweep '", wanted, "'; there are: ", names);
}

Result<ExitCode> watch(const Options& options) {
  const Server server = TRY(server_from(options.server));
  const std::string id = TRY(sweep_id(server, options.sweep));
  catch_interrupts();
  const Watched watched = TRY(watch_sweep(server, id, []() -> Result<void> { return {}; }));
  if (watched == Watched::interrupted) return ExitCode::interrupted;
  return print_result(TRY(rows_of(server, id)), options.json);
}

}  // namespace

void add_watch(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("watch", "Follow a sweep of a running coordinator to its end");
  verb->add_option("sweep", options->sweep, "Id or name of the sweep (default: the newest)");
  add_server_options(*verb, options->server);
  verb->add_flag("--json", options->json, "At the end print the table as JSON");
  verb->callback([options, &outcome] {
    const auto code = watch(*options);
    if (code) {
      outcome.code = *code;
    } else {
      report_error(code.error(), outcome);
    }
  });
}

}  // namespace headsplit::cli

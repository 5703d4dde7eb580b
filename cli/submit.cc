#include "cli/submit.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/erosion_table.h"
#include "cli/server_options.h"
#include "cli/sweep_client.h"
#include "coordinator/sweep.h"

namespace headsplit::cli {
namespace {

struct Options {
  std::string sweep_file;
  ServerOptions server;
  std::string backend;
  bool wait = false;
  bool json = false;
};

Result<ExitCode> submit(const Options& options) {
  // Read here first: a mistake in the file is told without a coordinator, with the file's own path.
  const coordinator::Sweep sweep = TRY(coordinator::read_sweep(options.sweep_file));
  const Server server = TRY(server_from(options.server));
  const auto view =
      TRY(submit_sweep(server, json_text(sweep), options.sweep_file, 0, options.backend));
  if (!options.wait) {
    if (options.json) {
      std::printf("%s\n", json_text(view).c_str());
    } else {
      std::printf("%s (%s): %lld points, %lld done\n", view.id.c_str(), view.name.c_str(),
                  static_cast<long long>(view.points), static_cast<long long>(view.done()));
    }
    return ExitCode::ok;
  }
  catch_interrupts();
  const Watched watched = TRY(watch_sweep(server, view.id, []() -> Result<void> { return {}; }));
  if (watched == Watched::interrupted) {
    std::fprintf(stderr,
                 "the sweep goes on; look at it with: headsplit watch %s --coordinator %s\n",
                 view.id.c_str(), server.url.c_str());
    return ExitCode::interrupted;
  }
  return print_result(TRY(rows_of(server, view.id)), options.json);
}

}  // namespace

void add_submit(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("submit", "Hand a sweep to a running coordinator");
  verb->footer("Example: headsplit submit configs/sweeps/tp-erosion.yaml --wait");
  verb->add_option("sweep", options->sweep_file, "Sweep file (YAML)")->required();
  add_server_options(*verb, options->server);
  verb->add_option("--backend", options->backend, "Only agents of this backend: cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  verb->add_flag("--wait", options->wait, "Follow it to the end and print the table");
  verb->add_flag("--json", options->json, "JSON on stdout");
  verb->callback([options, &outcome] {
    const auto code = submit(*options);
    if (code) {
      outcome.code = *code;
    } else {
      report_error(code.error(), outcome);
    }
  });
}

}  // namespace headsplit::cli

#include <CLI/CLI.hpp>
#include <array>

#include "cli/advise.h"
#include "cli/compare.h"
#include "cli/completion.h"
#include "cli/crossover.h"
#include "cli/export.h"
#include "cli/manual.h"
#include "cli/outcome.h"
#include "cli/plan.h"
#include "cli/predict.h"
#include "cli/preflight.h"
#include "cli/report.h"
#include "cli/reproduce.h"
#include "cli/run.h"
#include "cli/status.h"
#include "cli/submit.h"
#include "cli/verdict.h"
#include "cli/watch.h"
#include "core/version.h"

namespace {

using namespace headsplit;

/// Every verb adds itself; the order is that of `--help`.
constexpr std::array kVerbs = {
    cli::add_run,       cli::add_plan,      cli::add_submit,  cli::add_status,
    cli::add_watch,     cli::add_export,    cli::add_predict, cli::add_crossover,
    cli::add_advise,    cli::add_report,    cli::add_compare, cli::add_verdict,
    cli::add_reproduce, cli::add_preflight, cli::add_manual,  cli::add_completion};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "headsplit measures what head tensor parallelism does to Multi-head Latent Attention.");
  app.name("headsplit");
  app.footer("Start with: headsplit run configs/sweeps/quick.yaml");
  app.set_version_flag("--version", [] { return version_text("headsplit"); });
  app.require_subcommand(1);
  cli::Outcome outcome;
  for (const auto add_verb : kVerbs) add_verb(app, outcome);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  return static_cast<int>(outcome.code);
}

#include "cli/preflight.h"

#include <cstdio>
#include <memory>

#include "agent/preflight.h"
#include "cli/table.h"

namespace headsplit::cli {

namespace {

struct Options {
  agent::BackendChoice backend = agent::BackendChoice::automatic;
  std::string directory = ".";
  bool json = false;
};

void print_text(const std::vector<agent::Check>& checks) {
  std::vector<std::vector<std::string>> lines = {{"check", "state", "found"}};
  for (const agent::Check& check : checks) {
    lines.push_back({check.name, enum_name(check.state), check.found});
  }
  std::printf("%s\n", table_text(lines).c_str());
  for (const agent::Check& check : checks) {
    if (check.state == agent::CheckState::ok) continue;
    std::printf("%s %s%s: %s\n", check.name.c_str(), enum_name(check.state).c_str(),
                check.needed ? " (needed)" : "", check.remedy.c_str());
  }
  std::printf("%s\n", agent::ready(checks) ? "ready" : "not ready");
}

void preflight(const Options& options, Outcome& outcome) {
  const auto checks =
      agent::preflight_checks(agent::preflight_facts(options.directory), options.backend);
  if (options.json) {
    const json::object both = {{"ready", agent::ready(checks)}, {"checks", to_json(checks)}};
    std::printf("%s\n", json::serialize(both).c_str());
  } else {
    print_text(checks);
  }
  outcome.code = agent::ready(checks) ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_preflight(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("preflight", "What this machine has, and what to do");
  const std::map<std::string, agent::BackendChoice> choices = {
      {"auto", agent::BackendChoice::automatic},
      {"cuda", agent::BackendChoice::cuda},
      {"cpu", agent::BackendChoice::cpu}};
  verb->add_option("--backend", options->backend, "What runs will need: auto, cuda or cpu")
      ->transform(CLI::CheckedTransformer(choices));
  verb->add_option("--out", options->directory, "Where databases will be written")
      ->check(CLI::ExistingDirectory);
  verb->add_flag("--json", options->json, "JSON on stdout");
  verb->callback([options, &outcome] { preflight(*options, outcome); });
}

}  // namespace headsplit::cli

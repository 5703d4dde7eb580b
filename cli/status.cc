#include "cli/status.h"

#include <cstdio>
#include <memory>

#include "cli/server_options.h"
#include "cli/sweep_client.h"
#include "cli/table.h"

namespace headsplit::cli {
namespace {

struct Options {
  ServerOptions server;
  bool json = false;
};

void print_text(const std::vector<coordinator::SweepView>& sweeps,
                const std::vector<coordinator::AgentView>& agents) {
  std::vector<std::vector<std::string>> lines = {
      {"sweep", "name", "done", "points", "running", "failed", "skipped", "cancelled", "resumed"}};
  for (const auto& sweep : sweeps) {
    lines.push_back({sweep.id, sweep.name, str(sweep.done()), str(sweep.points), str(sweep.running),
                     str(sweep.failed), str(sweep.skipped), str(sweep.cancelled),
                     str(sweep.resumed)});
  }
  std::printf("%s\n", table_text(lines).c_str());
  lines = {{"agent", "node", "backend", "device", "memory", "working on"}};
  for (const auto& view : agents) {
    const AgentInfo& agent = view.agent;
    lines.push_back({agent.name, agent.node, agent.backend, agent.device,
                     bytes_text(static_cast<double>(agent.memory_bytes)),
                     !view.working_on.empty()  ? view.working_on
                     : !view.held_back.empty() ? view.held_back
                                               : "-"});
  }
  std::printf("%s", table_text(lines).c_str());
}

Result<void> status(const Options& options) {
  const Server server = TRY(server_from(options.server));
  const auto sweeps = TRY(sweeps_of(server));
  const auto agents = TRY(agents_of(server));
  if (options.json) {
    const json::object both = {{"sweeps", to_json(sweeps)}, {"agents", to_json(agents)}};
    std::printf("%s\n", json::serialize(both).c_str());
  } else {
    print_text(sweeps, agents);
  }
  return {};
}

}  // namespace

void add_status(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("status", "Sweeps and agents of a running coordinator");
  add_server_options(*verb, options->server);
  verb->add_flag("--json", options->json, "JSON on stdout");
  verb->callback([options, &outcome] {
    if (auto done = status(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli

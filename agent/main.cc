#include <CLI/CLI.hpp>

#include "agent/device_place.h"
#include "agent/device_watch.h"
#include "agent/run_agent.h"
#include "agent/worker.h"
#include "core/credential_options.h"
#include "core/version.h"

namespace headsplit::agent {
namespace {

struct Options {
  AgentOptions agent;
  WorkerOptions worker;
  bool is_worker = false;
};

void add_options(CLI::App& app, Options& options) {
  AgentOptions& agent = options.agent;
  app.add_option("--coordinator", agent.coordinator, "URL of the coordinator, http://HOST:PORT")
      ->envname("HEADSPLIT_COORDINATOR");
  app.add_option("--backend", agent.backend, "What to measure on: auto, cuda or cpu")
      ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
      ->capture_default_str();
  app.add_option("--name", agent.name, "Name of this agent (default: node and local rank)");
  app.add_option("--device", agent.device, "Index of the GPU (default: the local rank)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--threads", agent.threads, "Processors of a CPU worker (default: all)")
      ->check(CLI::NonNegativeNumber);
  add_credential_options(app, agent.token_file, agent.tls);
  app.add_option("--address", agent.address,
                 "Where the other ranks of a gang reach this agent (default: the address that it\n"
                 "has on its way to the coordinator)");
  app.add_option("--give-up-s", agent.give_up_s, "End after so long without a coordinator")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
      "--spool", agent.spool,
      "Folder for rows that no coordinator has acknowledged; they are sent again, by the\n"
      "next agent of this name too (default: under $XDG_STATE_HOME or ~/.local/state)");
  app.add_option("--spool-rows-max", agent.spool_rows_max,
                 "No lease is taken while so many rows wait for an acknowledgement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  const std::string group = "Worker";
  app.add_flag("--worker", options.is_worker,
               "Be a worker: leases as JSON lines on standard input, rows on standard output")
      ->group(group);
  app.add_option("--lease-file", options.worker.lease_file, "Worker: leases from this file")
      ->group(group);
  app.add_option("--local-rank", options.worker.local_rank,
                 "Worker: which share of the processors, with --threads")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
}

ExitCode run(Options& options) {
  if (options.is_worker) {
    const std::string& backend = options.agent.backend;
    options.worker.backend = backend == "cuda"  ? BackendChoice::cuda
                             : backend == "cpu" ? BackendChoice::cpu
                                                : BackendChoice::automatic;
    options.worker.threads = options.agent.threads;
    return run_worker(options.worker);
  }
  if (options.agent.coordinator.empty()) {
    std::fprintf(stderr, "headsplit-agent: --coordinator http://HOST:PORT is required\n");
    return ExitCode::usage;
  }
  return run_agent(
      options.agent, [](AgentInfo agent) { return with_place(std::move(agent)); },
      [](const AgentInfo& agent) { return watch_device(agent); });
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Measures points for a headsplit coordinator, one GPU or CPU an agent.",
               "headsplit-agent");
  app.set_version_flag("--version", [] { return version_text("headsplit-agent"); });
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "headsplit-agent: %s\n", error.what());
    return static_cast<int>(ExitCode::usage);
  }
  return static_cast<int>(run(options));
}

}  // namespace
}  // namespace headsplit::agent

int main(int argc, char** argv) { return headsplit::agent::main_of(argc, argv); }

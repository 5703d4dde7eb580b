#include "agent/run_agent.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>

#include "agent/identity.h"
#include "agent/spool.h"
#include "agent/supervisor.h"
#include "core/log.h"
#include "core/token.h"

namespace headsplit::agent {
namespace {

Result<SupervisorOptions> supervisor_options(const AgentOptions& options) {
  const Environment environment = process_environment();
  Identity identity = TRY(identity_from(environment, this_machine()));
  if (options.device) {
    identity.local_rank = *options.device;
    identity.launcher.clear();  // the index counts in the whole list, not in the launcher's share
  }
  // A launcher that is killed without warning takes its agents along.
  if (!identity.launcher.empty()) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto coordinator = TRY(address_from(options.coordinator));
  const auto token = TRY(token_from(options.token_file));
  SupervisorOptions result{.coordinator = coordinator,
                           .token = token,
                           .tls = options.tls,
                           .agent = {.name = options.name,
                                     .node = identity.node,
                                     .rank = identity.rank,
                                     .local_rank = identity.local_rank,
                                     .process_id = ::getpid()},
                           .address = options.address,
                           .give_up_s = options.give_up_s};
  if (result.agent.name.empty()) result.agent.name = agent_name(identity);
  result.worker.argv = {sibling_program("headsplit-agent"),
                        "--worker",
                        "--backend",
                        options.backend,
                        "--threads",
                        str(options.threads),
                        "--local-rank",
                        str(identity.local_rank)};
  if (options.backend != "cpu") {
    const std::string visible = TRY(visible_device(environment, identity));
    result.worker.environment.push_back("CUDA_VISIBLE_DEVICES=" + visible);
  }
  return result;
}

/// The folder that was asked for must hold; the default one may be missing, say in a container
/// whose files cannot be written: then rows are kept in memory.
Result<Spool> spool_of(const AgentOptions& options, const std::string& agent) {
  SpoolOptions wanted{.folder = options.spool, .agent = agent, .rows_max = options.spool_rows_max};
  if (!options.spool.empty()) return Spool::open(std::move(wanted));
  wanted.folder = default_spool_folder(options.coordinator);
  auto spool = Spool::open(wanted);
  if (spool) return spool;
  log_line(LogLevel::warn, "agent", "rows are kept in memory only",
           log_field("reason", spool.error().message));
  wanted.folder.clear();
  return Spool::open(std::move(wanted));
}

ExitCode cannot_start(const Error& error) {
  std::fprintf(stderr, "headsplit-agent: %s\n", error.message.c_str());
  return ExitCode::usage;
}

}  // namespace

ExitCode run_agent(const AgentOptions& options, std::function<AgentInfo(AgentInfo)> with_place,
                   std::function<DeviceWatch(const AgentInfo&)> watch_device) {
  auto settings = supervisor_options(options);
  if (!settings) return cannot_start(settings.error());
  auto spool = spool_of(options, settings->agent.name);
  if (!spool) return cannot_start(spool.error());
  settings->with_place = std::move(with_place);
  settings->watch_device = std::move(watch_device);
  std::signal(SIGPIPE, SIG_IGN);  // a dead worker is an error of the write, not our end
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not grow
  net::io_context context(1);
  Supervisor supervisor(context.get_executor(), settings.value(), std::move(spool).value());
  ExitCode code = ExitCode::failed;
  net::co_spawn(context, supervisor.run(), [&](std::exception_ptr thrown, ExitCode ended) {
    if (thrown) {
      std::fprintf(stderr, "headsplit-agent: %s\n", error_of(thrown).message.c_str());
    } else {
      code = ended;
    }
  });
  context.run();
  return code;
}

}  // namespace headsplit::agent

#include "agent/run_agent.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>

#include "agent/identity.h"
#include "agent/supervisor.h"
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
  SupervisorOptions result{.coordinator = TRY(address_from(options.coordinator)),
                           .token = TRY(token_from(options.token_file)),
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

}  // namespace

ExitCode run_agent(const AgentOptions& options, std::function<AgentInfo(AgentInfo)> with_place,
                   std::function<DeviceWatch(const AgentInfo&)> watch_device) {
  auto settings = supervisor_options(options);
  if (!settings) {
    std::fprintf(stderr, "headsplit-agent: %s\n", settings.error().message.c_str());
    return ExitCode::usage;
  }
  settings->with_place = std::move(with_place);
  settings->watch_device = std::move(watch_device);
  std::signal(SIGPIPE, SIG_IGN);  // a dead worker is an error of the write, not our end
  net::io_context context(1);
  Supervisor supervisor(context.get_executor(), settings.value());
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

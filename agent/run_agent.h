#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/device_watch.h"
#include "core/exit_code.h"
#include "core/tls.h"

namespace headsplit::agent {

/// The command line of an agent.
struct AgentOptions {
  std::string coordinator;  ///< http://HOST:PORT
  std::string backend = "auto";
  std::string name;           ///< empty = node and local rank
  std::optional<int> device;  ///< instead of the launcher's local rank
  int threads = 0;            ///< processors of a CPU worker; 0 = all
  std::string token_file;
  TlsFiles tls;         ///< peer_ca: of the coordinator
  std::string address;  ///< where other ranks reach this agent; empty: as the coordinator does
  double give_up_s = 60;
  std::string spool;  ///< folder; empty = default_spool_folder
  std::size_t spool_rows_max = 256;
};

/// The agent program: supervises a worker until a signal, a refusal or the loss of the coordinator.
/// Errors go to standard error as one line.
/// watch_device: makes the watch of the agent's device, for its heartbeats.
ExitCode run_agent(const AgentOptions& options, std::function<AgentInfo(AgentInfo)> with_place,
                   std::function<DeviceWatch(const AgentInfo&)> watch_device);

}  // namespace headsplit::agent

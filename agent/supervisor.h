#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/dialogue.h"
#include "agent/link.h"
#include "agent/measurer.h"
#include "agent/spool.h"
#include "core/async.h"
#include "core/exit_code.h"
#include "core/message.h"

namespace headsplit::agent {

struct SupervisorOptions {
  CoordinatorAddress coordinator;
  std::string token;
  TlsFiles tls;
  AgentInfo agent;  ///< name, node, ranks, process; the worker's device fills in the rest
  WorkerCommand worker;
  std::string address;  ///< where other ranks reach this agent; empty: as the coordinator does
  /// Makes the watch of the agent's device, once the worker has said which that is.
  std::function<AgentInfo(AgentInfo)> with_place;  ///< NUMA node and NVLink domain filled in
  std::function<DeviceWatch(const AgentInfo&)> watch_device;
  double give_up_s = 60;  ///< without a coordinator for so long, the agent ends
};

/// One agent: keeps a worker and a connection, and outlives the trouble of both.  Touches neither
/// CUDA nor MPI.
class Supervisor {
 public:
  Supervisor(net::any_io_executor executor, SupervisorOptions options, Spool spool);

  /// Runs until told to stop: `ok` after SIGTERM or SIGINT; `failed` when there is no device, or no
  /// coordinator for too long; `usage` when the coordinator refuses this agent.  Why is on stderr.
  net::awaitable<ExitCode> run();

 private:
  Task<> wait_for_signal();
  Task<> work();
  Task<> stay_connected();
  Task<> connect_once();
  void deliver(Row row);

  net::any_io_executor executor_;
  SupervisorOptions options_;
  Measurer measurer_;
  DeviceWatch watch_;
  Spool spool_;
  Dialogue* dialogue_ = nullptr;  ///< on the link there is, once welcome
  std::chrono::steady_clock::time_point last_contact_;
  bool stopping_ = false;
};

}  // namespace headsplit::agent

#pragma once

#include <string>
#include <vector>

#include "cli/http_client.h"
#include "core/child_process.h"

namespace headsplit::bench {

/// A coordinator of its own process that was started and serves.
struct RunningCoordinator {
  ChildProcess process;
  cli::Server server;
  double start_s = 0;  ///< from its start until it answered a request

  /// options: beside --listen and --db.
  static Result<RunningCoordinator> start(const std::string& database,
                                          const std::vector<std::string>& options = {});

  /// A figure of /proc/PID/status ("VmHWM:": the most that was ever resident).
  double status_mib(const std::string& key) const;
};

}  // namespace headsplit::bench

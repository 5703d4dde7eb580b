#pragma once

#include <string>

#include "coordinator/metrics/metrics_input.h"
#include "core/exit_code.h"
#include "core/tls.h"

namespace headsplit::coordinator {

/// The command line of the coordinator.
struct CoordinatorOptions {
  std::string listen = "127.0.0.1:7077";
  std::string database;
  std::string token_file;
  std::string discovery_file;  ///< empty = none is written
  TlsFiles tls;                ///< peer_ca: of agents and clients
  double heartbeat_s = 1;
  double silence_limit_s = 10;
  double gang_patience_s = 30;
  std::size_t metrics_series_max = kMetricsSeriesMax;
  QuarantineSettings quarantine;
};

/// The coordinator program: prints "listening URL" on standard output when it serves, and runs
/// until SIGINT or SIGTERM (`ok`).  `usage` when it cannot start, `failed` when the store fails;
/// the reason is one line on standard error.
ExitCode run_coordinator(const CoordinatorOptions& options);

}  // namespace headsplit::coordinator

#pragma once

#include <string>
#include <vector>

#include "cli/http_client.h"
#include "core/child_process.h"
#include "core/result.h"

namespace headsplit::cli {

/// What `headsplit run` starts.
struct FleetOptions {
  std::string database;
  std::string backend = "auto";  ///< auto | cuda | cpu
  int agents = 0;                ///< 0 = one a GPU, or one CPU agent
  int threads_an_agent = 0;      ///< processors of a CPU agent; 0 = all
  std::string log_file;          ///< what the children write to stderr
};

/// A coordinator and its agents as child processes on loopback: the same programs that run across
/// nodes, so that nothing here is a shortcut.  Destroying it ends them all.
class Fleet {
 public:
  /// Returns when the coordinator listens.  Fails: as the coordinator does (its own error line).
  static Result<Fleet> start(const FleetOptions& options);

  const Server& server() const { return server_; }
  int agent_count() const { return static_cast<int>(agents_.size()); }

  /// Starts agents that died again, a few times.  Fails: io, when the coordinator is gone or an
  /// agent will not stay (with the last line of the log).
  Result<void> keep_alive();

  /// Asks all to end, waits, and insists.
  void stop();

 private:
  explicit Fleet(FleetOptions options) : options_(std::move(options)) {}
  Result<void> start_coordinator();
  Result<void> start_agents();
  Result<ChildProcess> start_agent(int index) const;
  Error ended_badly(const std::string& what, const std::string& how) const;

  FleetOptions options_;
  Server server_;
  std::vector<ChildProcess> coordinator_;  ///< one, or none before the start
  std::vector<ChildProcess> agents_;
  int restarts_left_ = 3;
};

}  // namespace headsplit::cli

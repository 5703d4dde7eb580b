#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/sweep_client.h"
#include "coordinator/store.h"
#include "tests/e2e/command.h"

namespace headsplit::e2e {

/// A coordinator and CPU agents as real processes on loopback, to be killed at will.
class Cluster {
 public:
  /// Starts the coordinator.  options: beside --listen and --db.  environment: "KEY=value".
  explicit Cluster(std::vector<std::string> coordinator_options = {},
                   std::vector<std::string> environment = {});

  /// Agents that are started from now on connect here.
  void set_agents_url(const std::string& url) { agents_url_ = url; }
  Command& start_agent(const std::string& name, std::vector<std::string> options = {});
  /// Starts the coordinator again on its port and its database.
  void start_coordinator();
  Command& coordinator() { return *coordinator_; }

  /// Four points of about half a second each.  Gives the sweep's id.
  std::string submit_slow_sweep();

  coordinator::SweepView sweep(const std::string& id) const;
  std::vector<coordinator::AgentView> agents() const;
  /// From the database itself, in plan order.
  std::vector<coordinator::PointSummary> points(const std::string& id) const;
  std::vector<Row> rows(const std::string& id) const;
  bool finished(const std::string& id) const;

  const cli::Server& server() const { return server_; }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
  std::vector<std::string> coordinator_options_;
  std::vector<std::string> environment_;
  std::string agents_url_;  ///< empty = the coordinator's own
  cli::Server server_;
  std::string listen_ = "127.0.0.1:0";
  std::unique_ptr<Command> coordinator_;
  std::vector<std::unique_ptr<Command>> agents_;
};

/// Waits until `done`; false after `limit`.
bool eventually(const std::function<bool()>& done,
                std::chrono::seconds limit = std::chrono::seconds(60));

/// The processes whose parent is `parent`.
std::vector<pid_t> children_of(pid_t parent);

/// A process that is there and not a zombie.
bool runs(pid_t pid);

}  // namespace headsplit::e2e

#pragma once

#include <boost/asio/experimental/channel.hpp>
#include <deque>
#include <string>
#include <vector>

#include "agent/device_watch.h"
#include "agent/link.h"
#include "agent/measurer.h"
#include "agent/spool.h"
#include "core/async.h"
#include "core/message.h"

namespace headsplit::agent {

/// What an agent and the coordinator say to each other over one link.  Lives as long as the link.
/// Leases go to the measurer; rows stay in the spool until the coordinator has answered.
class Dialogue {
 public:
  /// watch: the device, for heartbeats.
  Dialogue(net::any_io_executor executor, Link& link, Measurer& measurer, const DeviceWatch& watch,
           Spool& spool);

  /// Introduces the agent, with the rows that earlier links left without an answer: as many as one
  /// message holds, and the rest as reports.
  /// Fails: config (refused, and why); io, timeout (try another link).
  Task<Welcome> greet(AgentInfo agent);

  /// Talks until the link ends, which is always an error, or after `leave()`, which is none.
  Task<> talk(Welcome welcome);

  /// Sends a row, already in the spool.
  void report(const Row& row);

  /// Says that a rank is prepared.
  void ready(const Ready& rank);

  /// Says goodbye after what waits to be sent.
  void leave();

 private:
  Task<CoordinatorMessage> next_message();
  Task<> receive();
  Task<> send();
  Task<> send_heartbeats(double interval_s);
  Result<> handle(CoordinatorMessage message);
  void forget(const Ack& ack);
  void post(const AgentMessage& message);

  net::any_io_executor executor_;
  Link& link_;
  Measurer& measurer_;
  const DeviceWatch& watch_;
  Spool& spool_;
  std::deque<std::string> outbox_;
  net::experimental::channel<void(boost::system::error_code)> posted_;
  bool leaving_ = false;
};

}  // namespace headsplit::agent

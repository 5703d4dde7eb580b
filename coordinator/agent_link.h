#pragma once

#include <string>

#include "core/message.h"

namespace headsplit::coordinator {

/// The coordinator's way to one connected agent.  Neither call waits for the network.
class AgentLink {
 public:
  virtual ~AgentLink() = default;

  virtual void send(const CoordinatorMessage& message) = 0;
  /// Ends the connection soon; `reason` goes to the agent.
  virtual void close(const std::string& reason) = 0;
};

}  // namespace headsplit::coordinator

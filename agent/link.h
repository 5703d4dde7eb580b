#pragma once

#include <memory>
#include <string>

#include "core/tls.h"

namespace headsplit::agent {

struct CoordinatorAddress {
  std::string host;
  std::string port;
  bool tls = false;

  std::string text() const { return host + ":" + port; }
  bool operator==(const CoordinatorAddress&) const = default;
};

/// Of "http://HOST:PORT" or "https://HOST:PORT" (port 7077 when left out).  Fails: config.
Result<CoordinatorAddress> address_from(const std::string& url);

/// A WebSocket to the coordinator.  One `receive`, one `send` and one `close` may run at a time.
/// A peer that is silent for half a minute, pings included, counts as gone.
class Link {
 public:
  /// token: empty, or sent as bearer token.  tls: for https.
  /// Fails: io, timeout (nobody there, try again); config (the coordinator wants another token).
  static Task<std::unique_ptr<Link>> connect(CoordinatorAddress address, std::string token,
                                             TlsFiles tls = TlsFiles());

  ~Link();

  /// Our own address on the way to the coordinator: others reach us there, too.
  std::string local_address() const;

  /// The next text message.  Fails: io (connection lost, or closed by the coordinator).
  Task<std::string> receive();
  Task<> send(std::string text);
  /// Says goodbye, so that the coordinator need not wait for silence.
  Task<> close();

 private:
  struct Stream;
  explicit Link(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace headsplit::agent

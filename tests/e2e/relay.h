#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headsplit::e2e {

/// A network between agents and their coordinator that can fail: a thread that carries bytes from a
/// port of its own to another port on loopback.
class Relay {
 public:
  explicit Relay(int to_port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  /// Half-open: connections stay, nothing passes, and nobody is told.
  void freeze(bool frozen) { frozen_ = frozen; }
  /// Ends every connection.
  void cut() { cut_ = true; }

 private:
  void work();
  void accept_one();
  /// Bytes from one end to the other; false when the connection is over.
  static bool carry(int from, int to);

  int to_port_;
  int port_ = 0;
  int listener_ = -1;
  std::vector<std::pair<int, int>> connections_;
  std::atomic<bool> frozen_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace headsplit::e2e

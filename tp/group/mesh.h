#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/gang.h"
#include "core/result.h"

namespace headsplit::tp {

/// A file descriptor that is closed with its owner.  Move-only.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

/// Where a rank waits for the others: a port of one address and a key drawn anew.
class Listener {
 public:
  /// address: of this machine, as the other ranks reach it.  Fails: io.
  static Result<Listener> open(const std::string& address);

  const RankContact& contact() const { return contact_; }
  int fd() const { return socket_.fd(); }

 private:
  Listener(Socket socket, RankContact contact)
      : socket_(std::move(socket)), contact_(std::move(contact)) {}
  Socket socket_;
  RankContact contact_;
};

/// Bytes for one rank, or from it.
struct Outgoing {
  int rank = 0;
  std::span<const std::byte> bytes;
};
struct Incoming {
  int rank = 0;
  std::span<std::byte> bytes;
};

/// A stream to every other rank of a gang.  Blocking, one thread.  An error says which rank is to
/// blame ("rank 3 closed its connection"), and ends the use of the mesh: whoever waits for this
/// process sees its connections close when it ends.
class Mesh {
 public:
  /// Connects to the ranks before this one and waits for those behind it.  Connections that do not
  /// show the key of `listener` are closed, and so is the second of one rank.
  /// contacts: by rank.  Fails: io (a rank cannot be reached: says which and why), timeout (names
  /// the ranks that did not connect).
  static Result<Mesh> connect(Listener listener, const std::vector<RankContact>& contacts, int rank,
                              std::chrono::milliseconds limit);
  /// The ranks of one process, for tests.
  static std::vector<Mesh> in_process(int size);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(peers_.size()); }

  /// Sends and receives all of these at once, at most one of each a rank, none to itself.
  /// Both sides of a stream must agree on the sizes.  Fails: io.
  Result<void> exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming);

 private:
  Mesh(int rank, std::vector<Socket> peers) : rank_(rank), peers_(std::move(peers)) {}

  int rank_ = 0;
  std::vector<Socket> peers_;  ///< by rank; none to itself
};

}  // namespace headsplit::tp

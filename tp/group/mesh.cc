#include "tp/group/mesh.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"

namespace headsplit::tp {
namespace {

/// What is left of one direction of one stream.
struct Transfer {
  int rank = 0;
  int fd = -1;
  std::byte* to = nullptr;          ///< receiving
  const std::byte* from = nullptr;  ///< sending
  std::size_t left = 0;
};

Error broken(int rank, int code) {
  if (code == 0 || code == ECONNRESET || code == EPIPE) {
    return fail(ErrorKind::io, "rank ", rank, " closed its connection");
  }
  return fail(ErrorKind::io, "connection to rank ", rank, ": ", std::strerror(code));
}

/// Moves what can be moved without waiting.  Fails: io.
Result<void> advance(Transfer& transfer) {
  while (transfer.left > 0) {
    const ssize_t count =
        transfer.to != nullptr
            ? ::recv(transfer.fd, transfer.to, transfer.left, MSG_DONTWAIT)
            : ::send(transfer.fd, transfer.from, transfer.left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (count < 0) return broken(transfer.rank, errno);
    if (count == 0) return broken(transfer.rank, 0);
    transfer.left -= static_cast<std::size_t>(count);
    (transfer.to != nullptr ? transfer.to : const_cast<std::byte*&>(transfer.from)) += count;
  }
  return {};
}

Result<void> wait_for_any(const std::vector<Transfer>& transfers) {
  std::vector<pollfd> polled;
  for (const Transfer& transfer : transfers) {
    if (transfer.left == 0) continue;
    const short wanted = transfer.to != nullptr ? POLLIN : POLLOUT;
    polled.push_back({transfer.fd, wanted, 0});
  }
  if (::poll(polled.data(), polled.size(), -1) >= 0 || errno == EINTR) return {};
  return fail(ErrorKind::io, "poll: ", std::strerror(errno));
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

std::vector<Mesh> Mesh::in_process(int size) {
  const auto count = static_cast<std::size_t>(size);
  std::vector<std::vector<Socket>> peers(count);
  for (auto& of_rank : peers) of_rank.resize(count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      int ends[2] = {-1, -1};
      CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
      peers[a][b] = Socket(ends[0]);
      peers[b][a] = Socket(ends[1]);
    }
  }
  std::vector<Mesh> meshes;
  for (int rank = 0; rank < size; ++rank) {
    meshes.push_back(Mesh(rank, std::move(peers[static_cast<std::size_t>(rank)])));
  }
  return meshes;
}

Result<void> Mesh::exchange(std::span<const Outgoing> outgoing,
                            std::span<const Incoming> incoming) {
  std::vector<Transfer> transfers;
  for (const Outgoing& out : outgoing) {
    const int fd = peers_[static_cast<std::size_t>(out.rank)].fd();
    transfers.push_back({out.rank, fd, nullptr, out.bytes.data(), out.bytes.size()});
  }
  for (const Incoming& in : incoming) {
    const int fd = peers_[static_cast<std::size_t>(in.rank)].fd();
    transfers.push_back({in.rank, fd, in.bytes.data(), nullptr, in.bytes.size()});
  }
  while (true) {
    bool waiting = false;
    for (Transfer& transfer : transfers) {
      TRY(advance(transfer));
      waiting = waiting || transfer.left > 0;
    }
    if (!waiting) return {};
    TRY(wait_for_any(transfers));
  }
}

}  // namespace headsplit::tp

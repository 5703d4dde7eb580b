#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/log.h"
#include "core/token.h"
#include "tp/group/mesh.h"

/// How the streams of a mesh come to be.
namespace headsplit::tp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kKeyText = 2 * kKeyBytes;

/// What a rank says first on a connection: the key of whom it calls, and who it is.
struct Introduction {
  std::array<char, kKeyText> key{};
  std::uint32_t rank = 0;  ///< network order
};
static_assert(sizeof(Introduction) == kKeyText + 4);

Error failed(const std::string& doing) {
  return fail(ErrorKind::io, doing, ": ", std::strerror(errno));
}

Result<std::string> drawn_key() {
  std::array<unsigned char, kKeyBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return failed("getrandom");
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolved(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) return fail(ErrorKind::io, "address '", host, "': ", ::gai_strerror(code));
  return Addresses(list);
}

void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Reads or writes all of it before `deadline`; false otherwise.
bool transfer_all(int fd, void* data, std::size_t bytes, bool writing, Clock::time_point deadline) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd polled{fd, static_cast<short>(writing ? POLLOUT : POLLIN), 0};
    if (left.count() <= 0 || ::poll(&polled, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t count = writing ? ::send(fd, at, bytes, MSG_NOSIGNAL) : ::recv(fd, at, bytes, 0);
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

Result<Socket> called(const RankContact& contact, int rank, int own_rank,
                      Clock::time_point deadline) {
  const Addresses addresses = TRY(resolved(contact.address, contact.port, 0));
  Socket socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return failed("socket");
  if (::connect(socket.fd(), addresses->ai_addr, addresses->ai_addrlen) != 0) {
    return failed(str("rank ", rank, " at ", contact.address, ":", contact.port));
  }
  send_at_once(socket.fd());
  Introduction introduction{.rank = htonl(static_cast<std::uint32_t>(own_rank))};
  std::memcpy(introduction.key.data(), contact.key.data(),
              std::min(contact.key.size(), introduction.key.size()));
  if (!transfer_all(socket.fd(), &introduction, sizeof introduction, true, deadline)) {
    return failed(str("rank ", rank, " at ", contact.address, ":", contact.port));
  }
  return socket;
}

/// The rank of a connection that was accepted, or nothing: a stranger, or a rank that came before.
std::optional<int> caller_of(int fd, const std::string& key, int own_rank,
                             const std::vector<Socket>& peers, Clock::time_point deadline) {
  Introduction introduction;
  if (!transfer_all(fd, &introduction, sizeof introduction, false, deadline)) return std::nullopt;
  const std::string shown(introduction.key.begin(), introduction.key.end());
  const auto rank = static_cast<std::int64_t>(ntohl(introduction.rank));
  const bool expected =
      same_token(shown, key) && rank > own_rank && rank < static_cast<std::int64_t>(peers.size());
  if (!expected) return std::nullopt;
  if (peers[static_cast<std::size_t>(rank)].fd() >= 0) return std::nullopt;
  return static_cast<int>(rank);
}

std::string missing_ranks(const std::vector<Socket>& peers, int own_rank) {
  std::string text;
  for (std::size_t rank = 0; rank < peers.size(); ++rank) {
    if (peers[rank].fd() >= 0 || static_cast<int>(rank) == own_rank) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}

}  // namespace

Result<Listener> Listener::open(const std::string& address) {
  const Addresses addresses = TRY(resolved(address, 0, AI_PASSIVE));
  Socket socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return failed("socket");
  if (::bind(socket.fd(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(socket.fd(), SOMAXCONN) != 0) {
    return failed("listening on " + address);
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&bound), &length);
  const auto port = bound.ss_family == AF_INET6
                        ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                        : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  const auto key = TRY(drawn_key());
  RankContact contact{.address = address, .port = ntohs(port), .key = key};
  return Listener(std::move(socket), std::move(contact));
}

Result<Mesh> Mesh::connect(Listener listener, const std::vector<RankContact>& contacts, int rank,
                           std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  std::vector<Socket> peers(contacts.size());
  for (int other = 0; other < rank; ++other) {
    const auto at = static_cast<std::size_t>(other);
    peers[at] = TRY(called(contacts[at], other, rank, deadline));
  }
  for (int waiting = static_cast<int>(contacts.size()) - rank - 1; waiting > 0;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd polled{listener.fd(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&polled, 1, static_cast<int>(left.count())) <= 0) {
      return fail(ErrorKind::timeout, "ranks ", missing_ranks(peers, rank),
                  " did not connect to rank ", rank, " within ", limit.count() / 1000.0, " s");
    }
    Socket socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.fd() < 0) continue;
    const auto caller = caller_of(socket.fd(), listener.contact().key, rank, peers, deadline);
    if (!caller) {
      log_line(LogLevel::warn, "gang", "a connection was refused");
      continue;
    }
    send_at_once(socket.fd());
    peers[static_cast<std::size_t>(*caller)] = std::move(socket);
    --waiting;
  }
  return Mesh(rank, std::move(peers));
}

}  // namespace headsplit::tp

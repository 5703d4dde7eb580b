#include "tests/e2e/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "core/check.h"

namespace headsplit::e2e {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

Relay::Relay(int to_port) : to_port_(to_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  CHECK(::bind(listener_, plain, size) == 0 && ::listen(listener_, 64) == 0);
  CHECK(::getsockname(listener_, plain, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { work(); });
}

Relay::~Relay() {
  ending_ = true;
  thread_.join();
  ::close(listener_);
}

void Relay::accept_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(to_port_);
  const bool reached =
      client >= 0 && ::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (reached) return connections_.emplace_back(client, server), void();
  ::close(client);
  ::close(server);
}

bool Relay::carry(int from, int to) {
  std::array<char, 16384> bytes;
  const ssize_t count = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count <= 0) return false;
  return ::send(to, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
}

void Relay::work() {
  while (!ending_) {
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
    const bool frozen = frozen_;
    for (const auto& [client, server] : connections_) {
      if (frozen) continue;
      polled.push_back({client, POLLIN, 0});
      polled.push_back({server, POLLIN, 0});
    }
    ::poll(polled.data(), polled.size(), 20);
    const bool all = cut_.exchange(false) || ending_;
    std::vector<std::pair<int, int>> kept;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      const auto [client, server] = connections_[i];
      bool good = !all;
      if (!frozen && good) {
        if (polled[1 + 2 * i].revents != 0) good = carry(client, server);
        if (good && polled[2 + 2 * i].revents != 0) good = carry(server, client);
      }
      if (good) {
        kept.emplace_back(client, server);
      } else {
        ::close(client);
        ::close(server);
      }
    }
    connections_ = std::move(kept);
    if (polled[0].revents != 0 && !frozen) accept_one();
  }
  for (const auto& [client, server] : connections_) {
    ::close(client);
    ::close(server);
  }
}

}  // namespace headsplit::e2e

#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <memory>
#include <string>

#include "core/async.h"

namespace headsplit {

/// A connection of any kind: TCP as it is, or the near end of a TLS tunnel.
using Socket = net::generic::stream_protocol::socket;

/// PEM files; empty = none.
struct TlsFiles {
  std::string certificate;  ///< of this side, its chain included
  std::string key;          ///< of that certificate, without a passphrase
  std::string peer_ca;      ///< who vouches for the other side

  bool any() const { return !certificate.empty() || !key.empty() || !peer_ca.empty(); }
};

/// TLS 1.2 and newer for whoever speaks over a Socket and knows nothing of it: the tunnel shakes
/// hands, then carries bytes between the wire and the near end.
class Tls {
 public:
  /// A side that is connected to.  With peer_ca the other side must show a certificate of it
  /// (mutual TLS).  Fails: config (names the file and what is wrong with it).
  static Result<Tls> server(const TlsFiles& files);
  /// A side that connects.  Without peer_ca the system's authorities vouch for the other side.
  static Result<Tls> client(const TlsFiles& files);

  class Tunnel;
  /// Shakes hands.  host: for a client, whose certificate the other side must show.
  /// Fails: io, timeout.
  Task<std::unique_ptr<Tunnel>> open(net::ip::tcp::socket wire, std::string host,
                                     Duration limit) const;

 private:
  struct Context;
  explicit Tls(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  std::shared_ptr<Context> context_;
};

class Tls::Tunnel {
 public:
  struct Wire;
  explicit Tunnel(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}

  /// The near end; once.
  Socket release_near();
  /// Carries bytes until either side ends.  Outlives this object when it must.
  Task<> carry();

 private:
  std::shared_ptr<Wire> wire_;
};

}  // namespace headsplit

#include "core/tls.h"

#include <openssl/err.h>

#include <array>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

namespace headsplit {
namespace {

namespace ssl = net::ssl;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kChunkBytes = 16 << 10;  // a TLS record
constexpr Duration kGoodbyeLimit = std::chrono::seconds(1);

Error bad_file(const std::string& what, const std::string& path, const ErrorCode& error) {
  return fail(ErrorKind::config, path, ": cannot be used as ", what, ": ", error.message());
}

Result<void> load_own(ssl::context& context, const TlsFiles& files) {
  ErrorCode error;
  context.use_certificate_chain_file(files.certificate, error);
  if (error) return bad_file("a TLS certificate", files.certificate, error);
  context.use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return bad_file("the key of " + files.certificate, files.key, error);
  return {};
}

Result<void> load_authority(ssl::context& context, const std::string& path) {
  ErrorCode error;
  if (path.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(path, error);
  }
  if (error) return bad_file("a TLS authority", path, error);
  return {};
}

Result<void> check_pair(const TlsFiles& files) {
  if (files.certificate.empty() == files.key.empty()) return {};
  return fail(ErrorKind::config, "a TLS certificate and its key go together: give both or neither");
}

}  // namespace

struct Tls::Context {
  explicit Context(bool serves) : ssl(ssl::context::tls), is_server(serves) {
    ssl.set_options(ssl::context::default_workarounds | ssl::context::single_dh_use);
    SSL_CTX_set_min_proto_version(ssl.native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_options(ssl.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  }

  ssl::context ssl;
  bool is_server;
};

Result<Tls> Tls::server(const TlsFiles& files) {
  TRY(check_pair(files));
  if (files.certificate.empty()) {
    return fail(ErrorKind::config, "TLS needs a certificate and its key");
  }
  auto context = std::make_shared<Context>(true);
  TRY(load_own(context->ssl, files));
  if (!files.peer_ca.empty()) {
    TRY(load_authority(context->ssl, files.peer_ca));
    context->ssl.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  }
  return Tls(std::move(context));
}

Result<Tls> Tls::client(const TlsFiles& files) {
  TRY(check_pair(files));
  auto context = std::make_shared<Context>(false);
  if (!files.certificate.empty()) TRY(load_own(context->ssl, files));
  TRY(load_authority(context->ssl, files.peer_ca));
  context->ssl.set_verify_mode(ssl::verify_peer);
  return Tls(std::move(context));
}

struct Tls::Tunnel::Wire {
  Wire(net::ip::tcp::socket socket, std::shared_ptr<Context> its)
      : context(std::move(its)),
        near(socket.get_executor()),
        far(socket.get_executor()),
        stream(std::move(socket), context->ssl) {}

  std::shared_ptr<Context> context;
  net::local::stream_protocol::socket near;
  net::local::stream_protocol::socket far;
  ssl::stream<net::ip::tcp::socket> stream;
};

namespace {

using Wire = Tls::Tunnel::Wire;

Task<> shake_hands(std::shared_ptr<Wire> wire, ssl::stream_base::handshake_type role) {
  ErrorCode error;
  co_await wire->stream.async_handshake(role, net::redirect_error(net::use_awaitable, error));
  if (error) co_return fail(ErrorKind::io, "TLS: ", error.message());
  co_return Result<>();
}

/// What comes over the wire, to the near end.
Task<> bring_in(std::shared_ptr<Wire> wire) {
  std::array<char, kChunkBytes> chunk;
  while (true) {
    ErrorCode error;
    const std::size_t count = co_await wire->stream.async_read_some(
        net::buffer(chunk), net::redirect_error(net::use_awaitable, error));
    if (error == net::error::operation_aborted) throw boost::system::system_error(error);
    if (error) break;
    co_await net::async_write(wire->far, net::buffer(chunk, count),
                              net::redirect_error(net::use_awaitable, error));
    if (error) break;
  }
  ErrorCode ignored;  // the near end may be closed
  wire->far.shutdown(net::socket_base::shutdown_send, ignored);
  co_return Result<>();
}

Task<> say_goodbye(std::shared_ptr<Wire> wire) {
  ErrorCode ignored;  // the other side need not answer
  co_await wire->stream.async_shutdown(net::redirect_error(net::use_awaitable, ignored));
  co_return Result<>();
}

/// What the near end says, to the wire.
Task<> bring_out(std::shared_ptr<Wire> wire) {
  std::array<char, kChunkBytes> chunk;
  while (true) {
    ErrorCode error;
    const std::size_t count = co_await wire->far.async_read_some(
        net::buffer(chunk), net::redirect_error(net::use_awaitable, error));
    if (error == net::error::operation_aborted) throw boost::system::system_error(error);
    if (error) break;
    co_await net::async_write(wire->stream, net::buffer(chunk, count),
                              net::redirect_error(net::use_awaitable, error));
    if (error) co_return Result<>();
  }
  Task<> leaving = say_goodbye(wire);
  co_return co_await within(kGoodbyeLimit, std::move(leaving));
}

Task<> carry_over(std::shared_ptr<Wire> wire) {
  // A cancellation that comes now must not throw us past the join.
  co_await net::this_coro::throw_if_cancelled(false);
  Nursery nursery(wire->far.get_executor());
  nursery.start("", bring_in(wire));
  nursery.start("", bring_out(wire), Nursery::OnEnd::others_end);
  const Result<> ended = co_await nursery.join();
  ErrorCode ignored;
  wire->far.close(ignored);
  wire->stream.lowest_layer().close(ignored);
  co_return ended;
}

}  // namespace

Task<std::unique_ptr<Tls::Tunnel>> Tls::open(net::ip::tcp::socket socket, std::string host,
                                             Duration limit) const {
  auto wire = std::make_shared<Wire>(std::move(socket), context_);
  auto role = ssl::stream_base::server;
  if (!context_->is_server) {
    role = ssl::stream_base::client;
    SSL_set_tlsext_host_name(wire->stream.native_handle(), host.c_str());
    wire->stream.set_verify_callback(ssl::host_name_verification(host));
  }
  Task<> shaking = shake_hands(wire, role);
  const Result<> shaken = co_await within(limit, std::move(shaking));
  if (!shaken) co_return shaken.error();
  ErrorCode error;
  net::local::connect_pair(wire->near, wire->far, error);
  if (error) co_return fail(ErrorKind::io, "socketpair: ", error.message());
  co_return std::make_unique<Tunnel>(std::move(wire));
}

Socket Tls::Tunnel::release_near() { return Socket(std::move(wire_->near)); }

Task<> Tls::Tunnel::carry() { return carry_over(wire_); }

}  // namespace headsplit

#include "coordinator/event_session.h"

#include <boost/asio/write.hpp>

#include "coordinator/page_events.h"

namespace headsplit::coordinator {
namespace {

constexpr Duration kLookInterval = std::chrono::milliseconds(250);
constexpr Duration kWriteLimit = std::chrono::seconds(10);

/// The stream ends when the connection does, so it needs no length.
constexpr const char* kHead =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/event-stream\r\n"
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Connection: close\r\n\r\n";

Task<> write_text(Socket& socket, const std::string& text) {
  co_await net::async_write(socket, net::buffer(text), net::use_awaitable);
  co_return Result<>();
}

PageNews news_of(const Service& service) {
  return {service.sweeps(), service.agents(), service.recent_rows()};
}

}  // namespace

Task<> serve_events(Socket socket, Site& site) {
  const Service& service = site.service;
  PageEvents events(service.recent_rows().latest());
  std::string text = kHead + events.due(news_of(service), std::chrono::steady_clock::now());
  while (true) {
    if (!text.empty()) {
      Task<> writing = write_text(socket, text);
      const Result<> written = co_await within(kWriteLimit, std::move(writing));
      if (!written) co_return written;
    }
    co_await sleep_for(kLookInterval);
    text = events.due(news_of(service), std::chrono::steady_clock::now());
  }
}

}  // namespace headsplit::coordinator

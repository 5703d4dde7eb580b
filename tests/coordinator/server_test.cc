#include "coordinator/server.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "coordinator/http.h"
#include "coordinator/rate.h"

namespace headsplit::coordinator {
namespace {

TEST(Request, IsTakenApartAndDecoded) {
  const Request request = request_from("GET", "/api/a%20b?name=x%26y&empty").value();
  EXPECT_EQ(request.path, "/api/a b");
  EXPECT_EQ(request.query.at("name"), "x&y");
  EXPECT_EQ(request.query.at("empty"), "");
  EXPECT_FALSE(request_from("GET", "http://elsewhere/"));
  EXPECT_FALSE(request_from("GET", "/%zz"));
}

TEST(ListenAddress, IsAHostAndAPort) {
  EXPECT_EQ(listen_address_from("127.0.0.1:7077")->port, "7077");
  EXPECT_EQ(listen_address_from("[::1]:0")->host, "::1");
  for (const std::string text : {"", "7077", "host:", ":7077", "host:70777", "host:x", "::1:80"}) {
    EXPECT_EQ(listen_address_from(text).error().message,
              "listen address '" + text + "': expected HOST:PORT, port 0 to 65535");
  }
}

TEST(Server, ChoosesAPortAndNamesIt) {
  net::io_context context;
  const auto server =
      Server::listen(context.get_executor(), ListenAddress{"127.0.0.1", "0"}, false);
  EXPECT_TRUE(server->url().starts_with("http://127.0.0.1:"));
  EXPECT_NE(server->url(), "http://127.0.0.1:0");
}

TEST(Server, SaysInOneLineThatThePortIsInUse) {
  net::io_context context;
  const auto first = Server::listen(context.get_executor(), ListenAddress{"127.0.0.1", "0"}, false);
  const std::string url = first->url();
  const std::string port = url.substr(url.rfind(':') + 1);
  const auto second =
      Server::listen(context.get_executor(), ListenAddress{"127.0.0.1", port}, false);
  EXPECT_EQ(second.error().message, "cannot listen on 127.0.0.1:" + port + ": the port is in use");
}

TEST(Server, RefusesToBeOpenToOthersWithoutAToken) {
  net::io_context context;
  const ListenAddress everywhere{"0.0.0.0", "0"};
  EXPECT_EQ(Server::listen(context.get_executor(), everywhere, false).error().message,
            "cannot listen on 0.0.0.0:0: others can reach it, so a token "
            "(--token-file) or certificates of clients (--tls-client-ca) are needed");
  EXPECT_TRUE(Server::listen(context.get_executor(), everywhere, true));
}

TEST(RateMeter, CountsEventsASecondAndFallsWhileNothingHappens) {
  const RateMeter::TimePoint start{};
  RateMeter meter;
  EXPECT_EQ(meter.per_s(start), 0);
  for (int second = 0; second <= 10; ++second) meter.count(start + std::chrono::seconds(second));
  EXPECT_DOUBLE_EQ(meter.per_s(start + std::chrono::seconds(10)), 1);
  EXPECT_DOUBLE_EQ(meter.per_s(start + std::chrono::seconds(20)), 0.5);
}

TEST(Allowance, GivesABurstAndThenItsRate) {
  Allowance::TimePoint now{std::chrono::hours(1)};
  Allowance allowance(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allowance.take(now));
  EXPECT_FALSE(allowance.take(now));
  now += std::chrono::milliseconds(100);
  EXPECT_TRUE(allowance.take(now));
  EXPECT_FALSE(allowance.take(now));
  now += std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allowance.take(now)) << "never more than the burst";
  EXPECT_FALSE(allowance.take(now));
}

}  // namespace
}  // namespace headsplit::coordinator

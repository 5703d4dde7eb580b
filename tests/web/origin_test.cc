#include "coordinator/origin.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

Request request_of(const std::string& method, const std::string& path, const std::string& origin) {
  Request request{.method = method, .path = path};
  request.host = "127.0.0.1:7077";
  request.origin = origin;
  return request;
}

TEST(Origin, OfTheCoordinatorsOwnPageMayChangeThings) {
  EXPECT_FALSE(from_foreign_page(request_of("POST", "/api/sweeps", "http://127.0.0.1:7077")));
  EXPECT_FALSE(from_foreign_page(request_of("DELETE", "/api/sweeps/a", "https://127.0.0.1:7077")));
}

TEST(Origin, OfAnotherPageMayChangeNothingAndBeNoAgent) {
  for (const std::string origin :
       {"http://evil.example", "http://127.0.0.1:8000", "http://127.0.0.1", "null",
        "http://127.0.0.1:70771", "http://evil.example/http://127.0.0.1:7077"}) {
    EXPECT_TRUE(from_foreign_page(request_of("POST", "/api/sweeps", origin))) << origin;
    EXPECT_TRUE(from_foreign_page(request_of("DELETE", "/api/sweeps/a", origin))) << origin;
    EXPECT_TRUE(from_foreign_page(request_of("GET", "/agent", origin))) << origin;
    EXPECT_FALSE(from_foreign_page(request_of("GET", "/api/sweeps", origin))) << origin;
  }
}

TEST(Origin, IsNotSentByClientsThatAreNoBrowsers) {
  EXPECT_FALSE(from_foreign_page(request_of("POST", "/api/sweeps", "")));
  EXPECT_FALSE(from_foreign_page(request_of("GET", "/agent", "")));
}

bool is_own(const std::string& host, const std::string& own_name = "") {
  Request request;
  request.host = host;
  return names_this_machine(request, own_name);
}

TEST(Host, IsThisMachineByAnyNameOfLoopback) {
  for (const std::string host : {"localhost", "LocalHost:7077", "127.0.0.1:7077", "127.8.9.1",
                                 "[::1]:7077", "[::1]", "::1:7077", ""}) {
    EXPECT_TRUE(is_own(host)) << host;
  }
}

TEST(Host, ThatOnlyResolvesToThisMachineIsAnothers) {
  for (const std::string host : {"evil.example:7077", "127.0.0.1.evil.example", "localhost.evil",
                                 "10.0.0.1:7077", "[::2]:7077", "[", ":7077"}) {
    EXPECT_FALSE(is_own(host)) << host;
  }
}

TEST(Host, MayBeTheNameThatTheCoordinatorWasToldToListenOn) {
  EXPECT_TRUE(is_own("Node-1:7077", "node-1"));
  EXPECT_FALSE(is_own("node-2:7077", "node-1"));
}

}  // namespace
}  // namespace headsplit::coordinator

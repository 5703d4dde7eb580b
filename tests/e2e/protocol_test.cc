// What the coordinator says to those who do not keep to the protocol.

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "agent/link.h"
#include "core/message.h"
#include "tests/e2e/cluster.h"

namespace headsplit::e2e {
namespace {

using namespace std::chrono_literals;

/// Sends one text to /agent and gives the first answer.
Task<std::string> first_answer(std::string url, std::string text) {
  auto link = co_await agent::Link::connect(agent::address_from(url).value(), "");
  if (!link) co_return link.error();
  const Result<> sent = co_await link.value()->send(std::move(text));
  if (!sent) co_return sent.error();
  Task<std::string> receiving = link.value()->receive();
  co_return co_await within(10s, std::move(receiving));
}

std::string refusal(const Cluster& cluster, const std::string& text) {
  net::io_context context(1);
  std::string reason = "no answer";
  net::co_spawn(context, first_answer(cluster.server().url, text),
                [&](std::exception_ptr, Result<std::string> answer) {
                  if (!answer) return;
                  const auto message = coordinator_message_from(answer.value());
                  if (!message) return;
                  const auto* refused = std::get_if<Refused>(&message.value());
                  reason = refused == nullptr ? "not refused" : refused->reason;
                });
  context.run_for(20s);
  return reason;
}

TEST(Protocol, AnAgentOfAnotherMajorVersionIsRefusedWhateverElseItSays) {
  const Cluster cluster;
  const std::string reason =
      refusal(cluster, R"({"kind": "greetings", "protocol_major": 2, "agent": [1, 2, 3]})");
  EXPECT_NE(reason.find("speaks protocol 2"), std::string::npos) << reason;
  EXPECT_NE(reason.find("use the same headsplit on both"), std::string::npos) << reason;
  EXPECT_TRUE(cluster.agents().empty());
}

/// An agent of protocol 1.1, which knows nothing of spools: the bytes that it sent, but for the
/// row.
Task<int> rows_of_old_agent(std::string url, int count) {
  auto link = co_await agent::Link::connect(agent::address_from(url).value(), "");
  if (!link) co_return link.error();
  std::string text =
      R"({"kind":"hello","protocol_major":1,"protocol_minor":1,"agent":{"name":"old",)"
      R"("node":"n","backend":"cpu","memory_bytes":1099511627776,"process_id":7},)"
      R"("unacknowledged":[]})";
  Result<> sent = co_await link.value()->send(std::move(text));
  int accepted = 0;
  while (sent && accepted < count) {
    Task<std::string> receiving = link.value()->receive();
    const Result<std::string> got = co_await within(10s, std::move(receiving));
    if (!got) co_return got.error();
    const json::value message = parse_json(got.value()).value();
    const auto kind = message.at("kind").as_string();
    if (kind == "ack" && message.at("acceptance").as_string() == "accepted") ++accepted;
    if (kind != "grant") continue;
    const json::object& lease = message.at("lease").as_object();
    const auto point = from_json<Point>(lease.at("point"), "point");
    if (!point) co_return point.error();
    json::object row = to_json(row_of(*point)).as_object();
    for (const char* key : {"point_id", "epoch", "sweep"}) row[key] = lease.at(key);
    row["status"] = "ok";
    row["time_us"] = 12.5;
    json::object report = {{"kind", "report"}};
    report["row"] = std::move(row);
    std::string beat = R"({"kind":"heartbeat","working_on":"","power_w":null})";
    sent = co_await link.value()->send(std::move(beat));
    std::string answer = json::serialize(report);
    if (sent) sent = co_await link.value()->send(std::move(answer));
  }
  co_return accepted;
}

TEST(Promise, P10_AnAgentOfTheVersionBeforeServesAWholeSweep) {
  Cluster cluster;
  const std::string id = cluster.submit_slow_sweep();
  net::io_context context(1);
  Result<int> accepted = fail(ErrorKind::io, "no answer");
  net::co_spawn(context, rows_of_old_agent(cluster.server().url, 4),
                [&](std::exception_ptr, Result<int> count) { accepted = std::move(count); });
  context.run_for(30s);
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted.value(), 4);
  EXPECT_TRUE(cluster.finished(id));
}

TEST(Protocol, WhatIsNoHelloIsRefused) {
  const Cluster cluster;
  EXPECT_EQ(refusal(cluster, R"({"kind": "heartbeat"})"), "the first message must be a hello");
  EXPECT_EQ(refusal(cluster, "hello"), "not JSON at byte 0: syntax error");
}

TEST(Protocol, APortInUseEndsTheCoordinatorWithOneLineThatNamesIt) {
  const Cluster cluster;
  const std::string address = cluster.server().url.substr(std::string("http://").size());
  const Finished second = run(cluster.scratch(), {program("headsplit-coordinator"), "--listen",
                                                  address, "--db", cluster.scratch().path("b.db")});
  EXPECT_EQ(second.exit_status, 2);
  EXPECT_EQ(second.err,
            "headsplit-coordinator: cannot listen on " + address + ": the port is in use\n");
  EXPECT_EQ(second.out, "");
}

TEST(Protocol, ABodyThatIsTooLargeIsRefused) {
  const Cluster cluster;
  const std::string body(std::size_t{2} << 20, '#');
  const auto answer = cli::http(cluster.server(), "POST", "/api/sweeps", body);
  if (answer) {  // else the connection broke while we were writing
    EXPECT_EQ(answer->status, 413);
  }
  EXPECT_EQ(cli::http(cluster.server(), "GET", "/healthz")->status, 200);
}

}  // namespace
}  // namespace headsplit::e2e

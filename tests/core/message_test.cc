#include "core/message.h"

#include <gtest/gtest.h>

namespace headsplit {
namespace {

TEST(Message, ComesBackAsItWasSent) {
  Row row = row_of(Point{.batch = 3});
  row.time_us = 1.5;
  for (const AgentMessage& message :
       {AgentMessage(Hello{.agent = {.name = "n0-0"}}), AgentMessage(Heartbeat{.power_w = 512.0}),
        AgentMessage(Report{row})}) {
    EXPECT_EQ(agent_message_from(message_text(message)).value(), message);
  }
  const Lease lease{.point_id = "ab", .epoch = 3, .point = {.batch = 9}, .seed = 7};
  for (const CoordinatorMessage& message :
       {CoordinatorMessage(Welcome{.session = 5}), CoordinatorMessage(Refused{"why"}),
        CoordinatorMessage(Grant{lease}), CoordinatorMessage(Ack{.point_id = "ab", .epoch = 3}),
        CoordinatorMessage(Cancel{.point_id = "ab"})}) {
    EXPECT_EQ(coordinator_message_from(message_text(message)).value(), message);
  }
}

TEST(Message, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(agent_message_from(R"({"kind": "hello", "protocol_major": "x"})").error().message,
            "hello.protocol_major: expected an integer in range");
  EXPECT_EQ(agent_message_from(R"({"kind": "grant"})").error().message,
            "unknown message kind 'grant'");
  EXPECT_FALSE(agent_message_from("[]"));
  EXPECT_FALSE(agent_message_from("{}"));
}

TEST(Message, ReadsTheFirstReleasedFormOfEachMessage) {
  // Golden frames: a change that breaks these breaks agents in the field.
  EXPECT_TRUE(agent_message_from(
      R"({"kind":"hello","protocol_major":1,"protocol_minor":0,"agent":{"name":"a"}})"));
  EXPECT_TRUE(agent_message_from(R"({"kind":"heartbeat","working_on":"","power_w":null})"));
  EXPECT_TRUE(
      agent_message_from(R"({"kind":"report","row":{"point_id":"ab","epoch":1,"status":"ok"}})"));
  EXPECT_TRUE(coordinator_message_from(R"({"kind":"welcome","session":1,"heartbeat_s":1.0})"));
}

}  // namespace
}  // namespace headsplit

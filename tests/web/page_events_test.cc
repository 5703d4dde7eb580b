#include "coordinator/page_events.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

using std::chrono::milliseconds;

const PageEvents::TimePoint kStart{};

/// What a coordinator has to tell, as a test sets it up.
struct Scene {
  std::vector<SweepStatus> sweeps;
  std::vector<AgentStatus> agents;
  RowFeed rows;
  PageEvents events{0};

  std::string at(milliseconds time) {
    return events.due(PageNews{sweeps, agents, rows}, kStart + time);
  }
};

Row row_named(const std::string& point) {
  Row row = row_of(Point{});
  row.point_id = point;
  return row;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(PageEvents, TellAllThereIsAtOnceAndThenOnlyWhatChanged) {
  Scene scene;
  scene.sweeps.resize(1);
  scene.sweeps[0].name = "one";
  const std::string first = scene.at(milliseconds(0));
  EXPECT_NE(first.find("event: sweeps\ndata: [{"), std::string::npos);
  EXPECT_NE(first.find("event: agents\ndata: []"), std::string::npos);
  EXPECT_EQ(scene.at(milliseconds(250)), "");
  scene.sweeps[0].ok = 1;
  EXPECT_EQ(scene.at(milliseconds(500)).find("event: sweeps\n"), 0u);
}

TEST(PageEvents, TellOfAgentsOnceASecond) {
  Scene scene;
  std::size_t told = 0;
  for (int quarter = 0; quarter < 20; ++quarter) {
    told += count_of(scene.at(milliseconds(250 * quarter)), "event: agents");
  }
  EXPECT_EQ(told, 5u);
}

TEST(PageEvents, TellEachRowOnceAndBySweep) {
  Scene scene;
  scene.at(milliseconds(0));
  scene.rows.add("s1", row_named("a"));
  scene.rows.add("s2", row_named("b"));
  scene.rows.add("s1", row_named("c"));
  const std::string text = scene.at(milliseconds(250));
  EXPECT_EQ(count_of(text, "event: rows"), 2u);
  EXPECT_NE(text.find(R"({"sweep":"s1","columns":{"count":2,)"), std::string::npos);
  EXPECT_NE(text.find(R"("point_id":{"words":["a","c"],"index":[0,1]})"), std::string::npos);
  EXPECT_EQ(scene.at(milliseconds(500)), "");
}

TEST(PageEvents, SendAFollowerThatFellBehindToReadAnew) {
  Scene scene;
  scene.at(milliseconds(0));
  for (std::size_t i = 0; i <= RowFeed::kKept; ++i) scene.rows.add("s", row_named("p"));
  EXPECT_NE(scene.at(milliseconds(250)).find("event: stale\n"), std::string::npos);
  EXPECT_EQ(scene.at(milliseconds(500)), "");
}

TEST(PageEvents, GiveAFloodInPortions) {
  Scene scene;
  scene.at(milliseconds(0));
  for (int i = 0; i < 1200; ++i) scene.rows.add("s", row_named("p"));
  EXPECT_NE(scene.at(milliseconds(250)).find("\"count\":500"), std::string::npos);
  EXPECT_NE(scene.at(milliseconds(500)).find("\"count\":500"), std::string::npos);
  EXPECT_NE(scene.at(milliseconds(750)).find("\"count\":200"), std::string::npos);
}

TEST(PageEvents, KeepMarkupAndLineBreaksInsideTheirLine) {
  Scene scene;
  scene.sweeps.resize(1);
  scene.sweeps[0].name = "a\n\ndata: b";
  EXPECT_EQ(count_of(scene.at(milliseconds(0)), "\n\ndata: b"), 0u);
}

}  // namespace
}  // namespace headsplit::coordinator

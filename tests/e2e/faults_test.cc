// What real processes do when they are killed, stopped or refused.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <thread>

#include "tests/e2e/cluster.h"

namespace headsplit::e2e {
namespace {

using namespace std::chrono_literals;

/// Waits until at least `done` points are done and the next has been measured for a while: well
/// within its half second.  False when that does not come.
bool wait_for_mid_point(const Cluster& cluster, const std::string& id, std::int64_t done) {
  const auto running = [&] {
    const auto view = cluster.sweep(id);
    return view.ok >= done && view.running > 0;
  };
  const bool came = eventually(running);
  std::this_thread::sleep_for(150ms);
  return came;
}

/// Grants beyond the first, over all points.
std::int64_t repeats(const std::vector<coordinator::PointSummary>& points) {
  std::int64_t sum = 0;
  for (const auto& point : points) sum += point.epoch - 1;
  return sum;
}

int counted_attempts(const std::vector<coordinator::PointSummary>& points) {
  int sum = 0;
  for (const auto& point : points) sum += point.attempts;
  return sum;
}

void expect_all_ok(const std::vector<coordinator::PointSummary>& points) {
  ASSERT_EQ(points.size(), 4u);
  for (const auto& point : points) {
    EXPECT_EQ(point.state, coordinator::PointState::done);
    EXPECT_EQ(point.status, Status::ok) << point.label;
  }
}

TEST(Faults, AKilledWorkerCostsOneAttemptAndNeverTheAgent) {
  Cluster cluster;
  Command& agent = cluster.start_agent("a");
  const std::string id = cluster.submit_slow_sweep();
  ASSERT_TRUE(wait_for_mid_point(cluster, id, 1)) << agent.err();
  const auto workers = children_of(agent.child().pid());
  ASSERT_EQ(workers.size(), 1u);
  ::kill(workers[0], SIGKILL);
  ASSERT_TRUE(eventually([&] { return cluster.finished(id); })) << agent.err();
  EXPECT_FALSE(agent.child().ended());
  EXPECT_NE(agent.err().find("worker killed by signal 9 (Killed)"), std::string::npos);
  expect_all_ok(cluster.points(id));
  EXPECT_EQ(repeats(cluster.points(id)), 1);
  EXPECT_EQ(counted_attempts(cluster.points(id)), 1);
}

TEST(Faults, AKilledAgentTakesItsWorkerAlongAndAnotherAgentGoesOn) {
  Cluster cluster;
  Command& agent = cluster.start_agent("a");
  const std::string id = cluster.submit_slow_sweep();
  ASSERT_TRUE(wait_for_mid_point(cluster, id, 1)) << agent.err();
  const auto workers = children_of(agent.child().pid());
  ASSERT_EQ(workers.size(), 1u);
  ::kill(agent.child().pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !runs(workers[0]); }, 10s));
  EXPECT_TRUE(eventually([&] { return cluster.agents().empty(); }, 10s));
  Command& next = cluster.start_agent("b");
  ASSERT_TRUE(eventually([&] { return cluster.finished(id); })) << next.err();
  expect_all_ok(cluster.points(id));
  EXPECT_EQ(repeats(cluster.points(id)), 1);
  EXPECT_EQ(counted_attempts(cluster.points(id)), 1);
}

TEST(Faults, AKilledCoordinatorGoesOnFromItsDatabaseAndRunsNothingTwice) {
  Cluster cluster;
  Command& agent = cluster.start_agent("a");
  const std::string id = cluster.submit_slow_sweep();
  ASSERT_TRUE(wait_for_mid_point(cluster, id, 1)) << agent.err();
  ::kill(cluster.coordinator().child().pid(), SIGKILL);
  cluster.coordinator().finish(10s);
  const auto before = cluster.rows(id);
  ASSERT_GE(before.size(), 1u);
  cluster.start_coordinator();
  ASSERT_TRUE(eventually([&] { return cluster.finished(id); })) << agent.err();
  expect_all_ok(cluster.points(id));
  // Only the point that was being measured may have been granted again, and it counts for nothing.
  EXPECT_LE(repeats(cluster.points(id)), 1);
  EXPECT_EQ(counted_attempts(cluster.points(id)), 0);
  for (const Row& row : cluster.rows(id)) {
    const auto old = std::ranges::find(before, row.point_id, &Row::point_id);
    EXPECT_EQ(row.resumed, old != before.end());
    if (old != before.end()) {
      EXPECT_EQ(row.started_unix_s, old->started_unix_s);
    }
  }
  EXPECT_FALSE(agent.child().ended());
}

TEST(Faults, ARowOfAnAgentThatSleptPastItsSilenceLimitIsStale) {
  Cluster cluster({"--heartbeat-s", "0.2", "--silence-limit-s", "1.5"});
  Command& sleeper = cluster.start_agent("sleeper");
  const std::string id = cluster.submit_slow_sweep();
  ASSERT_TRUE(wait_for_mid_point(cluster, id, 0)) << sleeper.err();
  // Only the supervisor sleeps: its worker finishes the point, and the row waits in the pipe.
  ::kill(sleeper.child().pid(), SIGSTOP);
  Command& other = cluster.start_agent("other");
  EXPECT_TRUE(eventually([&] { return cluster.finished(id); })) << other.err();
  ::kill(sleeper.child().pid(), SIGCONT);
  const auto told = [&] { return sleeper.err().find("as=stale") != std::string::npos; };
  EXPECT_TRUE(eventually(told, 20s)) << sleeper.err();
  expect_all_ok(cluster.points(id));
  for (const Row& row : cluster.rows(id)) EXPECT_EQ(row.agent, "other");
  EXPECT_EQ(cluster.agents().size(), 2u) << "the sleeper joins again";
}

TEST(Faults, ASecondAgentOfOneNameIsToldSoAndEnds) {
  Cluster cluster;
  cluster.start_agent("twin");
  ASSERT_TRUE(eventually([&] { return cluster.agents().size() == 1; }));
  const Finished second = cluster.start_agent("twin").finish(30s);
  EXPECT_EQ(second.exit_status, 2);
  EXPECT_NE(second.err.find("agent name 'twin' is connected already"), std::string::npos)
      << second.err;
  EXPECT_EQ(cluster.agents().size(), 1u);
}

TEST(Faults, AnAgentWithoutACoordinatorGivesUp) {
  Cluster cluster;
  Command& agent = cluster.start_agent("a", {"--give-up-s", "1"});
  ASSERT_TRUE(eventually([&] { return cluster.agents().size() == 1; })) << agent.err();
  cluster.coordinator().child().signal(SIGTERM);
  EXPECT_EQ(cluster.coordinator().finish(15s).exit_status, 0);
  const Finished ended = agent.finish(30s);
  EXPECT_EQ(ended.exit_status, 1);
  EXPECT_NE(ended.err.find("headsplit-agent: gave up after 1 s"), std::string::npos) << ended.err;
}

TEST(Faults, BothProgramsEndWellOnSigtermInTheMiddleOfASweep) {
  Cluster cluster;
  Command& agent = cluster.start_agent("a");
  const std::string id = cluster.submit_slow_sweep();
  ASSERT_TRUE(wait_for_mid_point(cluster, id, 0)) << agent.err();
  agent.child().signal(SIGTERM);
  EXPECT_EQ(agent.finish(15s).exit_status, 0);
  EXPECT_TRUE(eventually([&] { return cluster.agents().empty(); }, 5s));
  cluster.coordinator().child().signal(SIGTERM);
  EXPECT_EQ(cluster.coordinator().finish(15s).exit_status, 0);
  EXPECT_EQ(cluster.points(id).size(), 4u);
}

TEST(Promise, P8_TheSeriesOfADeadAgentVanishWithinItsSilenceLimit) {
  Cluster cluster({"--heartbeat-s", "0.2", "--silence-limit-s", "1.5"});
  cluster.start_agent("lives");
  Command& dies = cluster.start_agent("dies");
  const auto metrics = [&] {
    const auto reply = cli::http(cluster.server(), "GET", "/metrics");
    return reply ? reply->body : "";
  };
  const auto shown = [&](const std::string& agent) {
    return metrics().find("agent=\"" + agent + "\"") != std::string::npos;
  };
  ASSERT_TRUE(eventually([&] { return shown("lives") && shown("dies"); }));
  dies.child().signal(SIGSTOP);  // its connection stays, as when a machine loses its power
  EXPECT_TRUE(eventually([&] { return !shown("dies"); }, 10s));
  EXPECT_TRUE(shown("lives"));
}

TEST(Faults, ARowThatCouldNotBeSentIsSentByTheNextAgentOfThatName) {
  Cluster cluster;
  Command& first = cluster.start_agent("a");
  const std::string id = cluster.submit_slow_sweep();
  ASSERT_TRUE(wait_for_mid_point(cluster, id, 0)) << first.err();
  cluster.coordinator().child().signal(SIGSTOP);  // measured, spooled, and nobody answers
  EXPECT_TRUE(eventually([&] { return first.err().find("agent row") != std::string::npos; }));
  first.child().signal(SIGKILL);
  cluster.coordinator().child().signal(SIGKILL);
  first.finish(10s);
  cluster.coordinator().finish(10s);
  cluster.start_coordinator();
  Command& next = cluster.start_agent("a");
  ASSERT_TRUE(eventually([&] { return cluster.finished(id); })) << next.err();
  EXPECT_NE(next.err().find("rows of an earlier process are sent again"), std::string::npos)
      << next.err();
  expect_all_ok(cluster.points(id));
  EXPECT_EQ(repeats(cluster.points(id)), 0) << "it was not measured again";
}

TEST(Faults, AnAgentNeedsTheToken) {
  const Scratch secrets;
  const std::string right = secrets.file("right", "open sesame\n");
  const std::string wrong = secrets.file("wrong", "open barley\n");
  Cluster cluster({"--token-file", right});
  const Finished refused = cluster.start_agent("a", {"--token-file", wrong}).finish(30s);
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_NE(refused.err.find("wants another token"), std::string::npos) << refused.err;
  Command& welcome = cluster.start_agent("b", {"--token-file", right});
  EXPECT_TRUE(eventually([&] {
    return welcome.err().find("agent connected") != std::string::npos;
  })) << welcome.err();
}

}  // namespace
}  // namespace headsplit::e2e

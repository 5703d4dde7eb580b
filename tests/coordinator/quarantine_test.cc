#include "coordinator/quarantine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/scheduler.h"

namespace headsplit::coordinator {
namespace {

using std::chrono::seconds;

/// A scheduler whose agents fail or succeed as told; rows are durable at once.
class QuarantineTest : public testing::Test {
 protected:
  void SetUp() override {
    const Sweep sweep =
        sweep_from_yaml(
            "name: a\naxes: {batch: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}\n"
            "limits: {attempts: 9, point_timeout_s: 3600}\n",
            "s.yaml")
            .value();
    plan = std::make_shared<const Plan>(make_plan(sweep, std::nullopt).value());
  }

  void step(const Event& event) {
    for (const Action& action : scheduler.step(event, now)) {
      if (const auto* grant = std::get_if<GrantLease>(&action)) {
        leases[grant->session] = grant->lease;
        ++grants[grant->session];
      }
      if (const auto* log = std::get_if<LogDecision>(&action)) events.push_back(log->event);
      if (const auto* store = std::get_if<StoreRow>(&action)) {
        rows.push_back(store->row);
        step(RowStored{store->sweep, store->row.point_id});
      }
    }
  }
  void submit() { step(SweepSubmitted{plan, {}, ""}); }
  void join(std::int64_t session, const std::string& node) {
    step(
        AgentJoined{session, AgentInfo{.name = str("a", session), .node = node, .backend = "cpu"}});
  }
  /// The agent reports on the lease in its hands; false when it has none.
  bool report(std::int64_t session, Status status) {
    const auto held = leases.find(session);
    if (held == leases.end()) return false;
    const Lease lease = held->second;
    leases.erase(held);
    Row row = row_of(lease.point);
    row.epoch = lease.epoch;
    row.sweep = lease.sweep;
    row.status = status;
    row.retryable = status == Status::failed;
    row.reason = status == Status::failed ? "worker killed by signal 9 (Killed)" : "";
    if (status == Status::ok) row.time_us = 1;
    step(RowReported{session, row});
    return true;
  }
  std::string held_back(std::int64_t session) const {
    for (const AgentView& view : scheduler.agents()) {
      if (view.session == session) return view.held_back;
    }
    return "gone";
  }
  bool logged(const std::string& event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }

  Scheduler scheduler{
      {.silence_limit_s = 1e9,
       .quarantine = {.node_failures_max = 3, .drain_s = 100, .point_nodes_max = 3}}};
  TimePoint now{std::chrono::hours(1)};
  std::shared_ptr<const Plan> plan;
  std::map<std::int64_t, Lease> leases;
  std::map<std::int64_t, int> grants;
  std::vector<std::string> events;
  std::vector<Row> rows;
};

TEST_F(QuarantineTest, DrainsANodeOnWhichPointAfterPointFails) {
  submit();
  join(1, "bad");
  join(2, "good");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(report(1, Status::failed));
  EXPECT_FALSE(report(1, Status::failed)) << "it gets no more work";
  EXPECT_EQ(held_back(1), "its node is drained: 3 points failed there and none ended well");
  EXPECT_EQ(scheduler.totals().drained, 1);
  EXPECT_TRUE(logged("node_drained"));
  while (report(2, Status::ok)) {
  }
  EXPECT_EQ(scheduler.sweeps().front().ok, 16) << "the other node did it all";
}

TEST_F(QuarantineTest, DrainsTheOtherAgentsOfTheNodeToo) {
  submit();
  join(1, "bad");
  join(2, "good");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(report(1, Status::failed));
  join(3, "bad");
  EXPECT_FALSE(report(3, Status::failed));
  EXPECT_NE(held_back(3), "");
}

TEST_F(QuarantineTest, PutsADrainedNodeOnTrialWhenItsTimeIsOver) {
  submit();
  join(1, "bad");
  join(2, "good");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(report(1, Status::failed));
  now += seconds(99);
  step(Tick{});
  EXPECT_FALSE(leases.count(1));
  now += seconds(1);
  step(Tick{});
  ASSERT_TRUE(report(1, Status::failed)) << "one trial";
  EXPECT_FALSE(leases.count(1)) << "one more failure, and twice the time";
  now += seconds(199);
  step(Tick{});
  EXPECT_FALSE(leases.count(1));
  now += seconds(1);
  step(Tick{});
  ASSERT_TRUE(report(1, Status::ok));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(report(1, Status::failed)) << "cleared by a success";
  EXPECT_TRUE(leases.count(1));
}

TEST_F(QuarantineTest, NeverDrainsTheOnlyNodeThatCanDoTheWork) {
  submit();
  join(1, "only");
  int reports = 0;
  while (report(1, Status::failed)) ++reports;
  EXPECT_EQ(reports, 16 * 9);
  EXPECT_EQ(scheduler.sweeps().front().failed, 16) << "every point ended, with its reasons";
  EXPECT_EQ(scheduler.totals().drained, 0);
}

TEST_F(QuarantineTest, APointThatFailsOverAndOverOnOneNodeIsNoReasonToDrainIt) {
  submit();
  join(1, "n1");
  join(2, "n2");
  const std::string point = leases[1].point_id;
  for (int i = 0; i < 40 && leases.count(1); ++i) {
    report(1, leases[1].point_id == point ? Status::failed : Status::ok);
  }
  EXPECT_EQ(scheduler.totals().drained, 0);
}

TEST_F(QuarantineTest, EndsAPointThatFailsOnSeveralNodesAndBlamesNoNode) {
  submit();
  for (int i = 1; i <= 3; ++i) join(i, str("n", i));
  const std::string point = leases[1].point_id;
  for (std::int64_t turn = 0; !leases.empty(); ++turn) {
    const std::int64_t session = 1 + turn % 3;
    if (!leases.count(session)) continue;
    // Whoever failed on it waits, so that another node gets it next.
    const bool fails = leases[session].point_id == point;
    report(session, fails ? Status::failed : Status::ok);
  }
  const auto condemned =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.point_id == point; });
  ASSERT_NE(condemned, rows.end());
  EXPECT_EQ(condemned->status, Status::failed);
  EXPECT_TRUE(
      condemned->reason.starts_with("3 attempts failed on 3 nodes, so it is the point; 1: "))
      << condemned->reason;
  EXPECT_EQ(scheduler.totals().condemned, 1);
  EXPECT_EQ(scheduler.totals().drained, 0);
  EXPECT_EQ(scheduler.sweeps().front().ok, 15);
}

TEST_F(QuarantineTest, AgentsLostAtOnceAreOneIncidentAndNotManyFailures) {
  submit();
  for (int i = 1; i <= 8; ++i) join(i, "n1");
  join(9, "n2");
  for (int i = 1; i <= 8; ++i) step(AgentLost{i, "connection closed"});
  EXPECT_EQ(scheduler.totals().drained, 0) << "the node was switched off";
}

TEST_F(QuarantineTest, AnAgentWhoseSpoolIsFullGetsNoLease) {
  join(1, "n1");
  step(AgentSpoke{1, true});
  submit();
  EXPECT_TRUE(leases.empty());
  EXPECT_EQ(held_back(1), "its spool is full");
  step(AgentSpoke{1});
  EXPECT_TRUE(leases.empty()) << "a message that says nothing of the spool changes nothing";
  step(AgentSpoke{1, false});
  EXPECT_EQ(leases.count(1), 1u);
}

}  // namespace
}  // namespace headsplit::coordinator

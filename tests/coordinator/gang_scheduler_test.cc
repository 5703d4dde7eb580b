#include <gtest/gtest.h>

#include "tests/coordinator/scheduler_steps.h"

namespace headsplit::coordinator {
namespace {

using std::chrono::seconds;

/// A scheduler with agents on nodes of four, and the actions of the latest step.
class GangTest : public testing::Test, protected SchedulerSteps {
 protected:
  void submit(const std::string& text) {
    plan = plan_of(text);
    step(SweepSubmitted{plan, {}, ""});
  }
  void join(int first, int last, const std::string& build = "b1") {
    for (int i = first; i <= last; ++i) {
      AgentInfo info{.name = str("a", i), .node = str("n", i / 4), .local_rank = i % 4};
      info.backend = "cpu";
      info.build = build;
      step(AgentJoined{i, info});
    }
  }
  GrantGang gang() const {
    const auto found = all<GrantGang>();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? GrantGang{} : found[0];
  }
  std::vector<std::int64_t> sessions() const {
    std::vector<std::int64_t> found;
    for (const GrantLease& seat : gang().seats) found.push_back(seat.session);
    return found;
  }
  void ready(const GrantLease& seat) {
    const Lease& lease = seat.lease;
    step(RankReady{seat.session, Ready{lease.sweep, lease.point_id, lease.epoch, lease.gang.rank,
                                       RankContact{.port = lease.gang.rank}}});
  }
  void all_ready(const GrantGang& grant) {
    for (const GrantLease& seat : grant.seats) ready(seat);
  }
  static Row part_of(const GrantLease& seat, Status status = Status::ok) {
    const Lease& lease = seat.lease;
    Row row = row_of(lease.point);
    row.epoch = lease.epoch;
    row.sweep = lease.sweep;
    row.status = status;
    row.rank = lease.gang.rank;
    row.agent = str("a", seat.session);
    row.time_us = 100;
    const double attention_us = 60 + 10 * row.rank;
    row.parts = {RankPart{.time_us = 90, .attention_us = attention_us, .collective_us = 5}};
    if (status != Status::ok) row.reason = "rank 3 closed its connection";
    return row;
  }
  std::vector<SendAck> commit() {
    std::vector<SendAck> acks;
    for (const StoreRow& store : all<StoreRow>()) {
      for (Action& action : scheduler.step(RowStored{store.sweep, store.row.point_id}, now)) {
        if (auto* ack = std::get_if<SendAck>(&action)) acks.push_back(*ack);
      }
    }
    return acks;
  }
};

constexpr const char* kFourRanks = "name: g\nranks: real\ntp: 4\nlimits: {point_timeout_s: 30}\n";

TEST_F(GangTest, IsReservedWholeAndOnOneNode) {
  submit("name: g\nranks: real\nlayouts: [{tp: 2, dp: 2}]\naxes: {batch: 3}");
  join(2, 6);
  EXPECT_TRUE(actions.empty() || all<GrantGang>().empty()) << "no node has four yet";
  join(7, 7);
  EXPECT_EQ(sessions(), (std::vector<std::int64_t>{4, 5, 6, 7}));
  const auto seats = gang().seats;
  EXPECT_EQ(seats[2].lease.gang, (GangSeat{.size = 4, .rank = 2, .hidden = 7168}));
  EXPECT_EQ(seats[0].lease.problem.batch, 2);
  EXPECT_EQ(seats[3].lease.problem.batch, 1);
  EXPECT_EQ(seats[3].lease.problem.local_heads, 64);
}

TEST_F(GangTest, SpansNodesWhenNoneIsLargeEnoughOrTheSweepSaysSo) {
  submit("name: g\nranks: real\ntp: 8");
  join(0, 7);
  EXPECT_TRUE(all<GrantGang>().empty()) << "more may come: their launcher is still at it";
  now += seconds(1);
  step(Tick{});
  EXPECT_EQ(sessions().size(), 8u);
  scheduler = Scheduler();
  submit("name: g\nranks: real\ntp: 2\ngang: {placement: spread}");
  join(3, 3);
  join(4, 4);
  EXPECT_EQ(sessions(), (std::vector<std::int64_t>{3, 4}));
}

TEST_F(GangTest, FollowsAListOfAgents) {
  submit("name: g\nranks: real\ntp: 2\ngang: {placement: listed, agents: [a5, a1]}");
  join(0, 5);
  EXPECT_EQ(sessions(), (std::vector<std::int64_t>{5, 1}));
}

TEST_F(GangTest, GoesWhenEveryRankIsReadyAndNotBefore) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  for (int rank : {3, 0, 2}) {
    ready(grant.seats[static_cast<std::size_t>(rank)]);
    EXPECT_TRUE(actions.empty());
  }
  ready(grant.seats[0]);
  EXPECT_TRUE(actions.empty()) << "a rank that says so twice counts once";
  ready(grant.seats[1]);
  ASSERT_EQ(all<SendGo>().size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(all<SendGo>()[1].go.contacts[static_cast<std::size_t>(rank)].port, rank);
  }
}

TEST_F(GangTest, IsOneRowOnceAllPartsAreIn) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  all_ready(grant);
  for (int rank : {2, 0, 3}) {
    step(RowReported{rank, part_of(grant.seats[static_cast<std::size_t>(rank)])});
    EXPECT_TRUE(all<StoreRow>().empty());
  }
  step(RowReported{3, part_of(grant.seats[3])});
  EXPECT_TRUE(actions.empty()) << "a part that comes twice waits with the first";
  step(RowReported{1, part_of(grant.seats[1])});
  ASSERT_EQ(all<StoreRow>().size(), 1u);
  const Row row = all<StoreRow>()[0].row;
  EXPECT_EQ(row.status, Status::ok);
  ASSERT_EQ(row.parts.size(), 4u);
  EXPECT_EQ(row.parts[2].agent, "a2");
  EXPECT_EQ(row.attention_us, 90);
  EXPECT_EQ(row.exposed_us, 10);
  EXPECT_EQ(row.imbalance, 1.2);
  EXPECT_TRUE(row.gang_start_us);
  int accepted = 0;
  for (const SendAck& ack : commit()) accepted += ack.ack.acceptance == Acceptance::accepted;
  EXPECT_EQ(accepted, 4) << "each rank's first part; the repeat is a duplicate";
}

TEST_F(GangTest, ALostRankEndsTheAttemptForAll) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  all_ready(grant);
  step(RowReported{2, part_of(grant.seats[2])});
  step(AgentLost{1, "connection closed"});
  EXPECT_EQ(all<SendCancel>().size(), 2u) << "ranks 0 and 3 work on";
  ASSERT_EQ(all<SendAck>().size(), 1u) << "rank 2 may forget its part";
  EXPECT_EQ(all<SendAck>()[0].ack.acceptance, Acceptance::stale);
  ASSERT_EQ(all<StoreAttempt>().size(), 1u);
  EXPECT_EQ(all<StoreAttempt>()[0].reason, "rank 1 (agent a1) connection closed");
  EXPECT_TRUE(all<GrantGang>().empty()) << "three agents are no gang of four";
  step(RowReported{0, part_of(grant.seats[0])});
  EXPECT_EQ(all<StoreAttempt>()[0].outcome, "stale");
  join(1, 1);
  EXPECT_EQ(gang().seats[0].lease.epoch, 2);
}

TEST_F(GangTest, ARankLostAfterItsPartHarmsNobody) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  all_ready(grant);
  step(RowReported{2, part_of(grant.seats[2])});
  step(AgentLost{2, "connection closed"});
  EXPECT_TRUE(all<StoreAttempt>().empty());
  for (int rank : {0, 1, 3}) {
    step(RowReported{rank, part_of(grant.seats[static_cast<std::size_t>(rank)])});
  }
  EXPECT_EQ(all<StoreRow>().size(), 1u);
}

TEST_F(GangTest, ARankThatFailsEndsTheAttemptAndIsNamed) {
  submit("name: g\nranks: real\ntp: 4\nlimits: {attempts: 1}");
  join(0, 3);
  const GrantGang grant = gang();
  all_ready(grant);
  Row failed = part_of(grant.seats[2], Status::failed);
  failed.retryable = true;
  step(RowReported{2, failed});
  EXPECT_EQ(all<SendCancel>().size(), 3u);
  ASSERT_EQ(all<StoreRow>().size(), 1u);
  EXPECT_EQ(all<StoreRow>()[0].row.reason,
            "1 attempt failed; 1: failed: rank 2 (agent a2) rank 3 closed its connection");
}

TEST_F(GangTest, ARankThatCannotRunThePointSkipsItForAll) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  Row skipped = part_of(grant.seats[1], Status::skipped);
  skipped.reason = "takes 1 to 128 local heads";
  step(RowReported{1, skipped});
  EXPECT_EQ(all<SendCancel>().size(), 3u);
  ASSERT_EQ(all<StoreRow>().size(), 1u);
  EXPECT_EQ(all<StoreRow>()[0].row.status, Status::skipped);
}

TEST_F(GangTest, ARankThatIsNotReadyInTimeIsDroppedAndTheOthersAreFree) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  for (int rank : {0, 1, 3}) ready(grant.seats[static_cast<std::size_t>(rank)]);
  now += seconds(35);
  for (int session : {0, 1, 2, 3}) step(AgentSpoke{session});
  step(Tick{});
  ASSERT_EQ(all<DropAgent>().size(), 1u);
  EXPECT_EQ(all<DropAgent>()[0].session, 2);
  EXPECT_EQ(all<SendCancel>().size(), 3u);
  EXPECT_EQ(all<StoreAttempt>()[0].reason, "rank 2 (agent a2) held a lease past its deadline");
}

TEST_F(GangTest, APartUnderAnotherAgentsRankIsRefused) {
  submit(kFourRanks);
  join(0, 3);
  const GrantGang grant = gang();
  Row row = part_of(grant.seats[1]);
  step(RowReported{0, row});
  ASSERT_EQ(all<SendAck>().size(), 1u);
  EXPECT_EQ(all<SendAck>()[0].ack.reason, "rank 1 of this gang is another agent's");
  GrantLease forged = grant.seats[1];
  forged.session = 0;
  ready(forged);
  EXPECT_EQ(all<SendCancel>().size(), 1u);
}

TEST_F(GangTest, LargerThanAllAgentsIsSkippedWhenNobodyComes) {
  submit("name: g\nranks: real\ntp: [8, 1]");
  join(0, 3);
  const auto begun = now;
  EXPECT_EQ(scheduler.sweeps()[0].running, 1) << "it does not keep agents from what fits";
  for (now += seconds(5); all<StoreRow>().empty() && now - begun < seconds(60); now += seconds(5)) {
    for (int session = 0; session < 4 && all<StoreRow>().empty(); ++session) {
      step(AgentSpoke{session});
    }
  }
  EXPECT_GE(now - begun, seconds(30));
  ASSERT_EQ(all<StoreRow>().size(), 1u);
  EXPECT_EQ(all<StoreRow>()[0].row.status, Status::skipped);
  EXPECT_EQ(all<StoreRow>()[0].row.reason, "needs 8 agents at once; 4 are connected");
}

TEST_F(GangTest, IsOfOneBuild) {
  submit(kFourRanks);
  join(0, 2);
  join(3, 4, "b2");
  EXPECT_TRUE(all<GrantGang>().empty());
  now += seconds(30);
  step(AgentSpoke{0});
  ASSERT_EQ(all<StoreRow>().size(), 1u);
  EXPECT_NE(all<StoreRow>()[0].row.reason.find("may run together: 3 (cpu build b1"),
            std::string::npos)
      << all<StoreRow>()[0].row.reason;
}

TEST_F(GangTest, KeepsIdleAgentsFromWhatWaitsBehindIt) {
  submit("name: first\nranks: real\ntp: 2");
  join(0, 1);
  const GrantGang pair = gang();
  submit("name: second\nranks: real\ntp: 4");
  join(2, 3);
  submit("name: third\ntp: [1, 2, 4, 8]");
  EXPECT_TRUE(all<GrantLease>().empty()) << "two are idle, and kept for the four";
  all_ready(pair);
  step(RowReported{0, part_of(pair.seats[0])});
  EXPECT_TRUE(all<GrantLease>().empty());
  step(RowReported{1, part_of(pair.seats[1])});
  EXPECT_EQ(gang().seats.size(), 4u);
}

TEST_F(GangTest, EndsWithItsSweep) {
  submit(kFourRanks);
  join(0, 3);
  step(SweepCancelled{plan->id, "nobody wants it"});
  EXPECT_EQ(all<SendCancel>().size(), 4u);
  EXPECT_EQ(all<StoreRow>()[0].row.status, Status::cancelled);
  submit(kFourRanks);
  EXPECT_EQ(all<GrantGang>().size(), 0u) << "its row is still being stored";
}

}  // namespace
}  // namespace headsplit::coordinator

#include "coordinator/scheduler.h"

#include <gtest/gtest.h>

#include "coordinator/coordinator_row.h"
#include "tests/coordinator/scheduler_steps.h"

namespace headsplit::coordinator {
namespace {

using std::chrono::seconds;

/// A scheduler, a clock, and the actions of the latest step.
class SchedulerTest : public testing::Test, protected SchedulerSteps {
 protected:
  void submit(const std::string& text, std::vector<PointProgress> progress = {},
              const std::string& backend = "") {
    plan = plan_of(text);
    step(SweepSubmitted{plan, std::move(progress), backend});
  }
  void join(std::int64_t session, AgentInfo agent = {}) {
    if (agent.name.empty()) agent.name = str("agent-", session);
    if (agent.backend.empty()) agent.backend = "cpu";
    step(AgentJoined{session, agent});
  }
  /// The only action of its kind.
  template <class T>
  T only() const {
    const std::vector<T> found = all<T>();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? T{} : found[0];
  }
  static Row row_for(const Lease& lease, Status status = Status::ok) {
    Row row = row_of(lease.point);
    row.epoch = lease.epoch;
    row.sweep = lease.sweep;
    row.status = status;
    row.reason = status == Status::ok ? "" : "worker crashed: signal 9";
    if (status == Status::ok) row.time_us = 100;
    return row;
  }
  /// Makes the rows of the latest actions durable; the actions are then those that follow.
  void commit() {
    std::vector<Action> following;
    for (const StoreRow& store : all<StoreRow>()) {
      for (Action& action : scheduler.step(RowStored{store.sweep, store.row.point_id}, now)) {
        following.push_back(std::move(action));
      }
    }
    actions = std::move(following);
  }
  SweepView view() const { return scheduler.sweeps().front(); }
};

TEST_F(SchedulerTest, GrantsPointsInPlanOrderToAgentsAsTheyJoin) {
  submit("name: a\ntp: [1, 2]\nlimits: {point_timeout_s: 30}\nseed: 9");
  join(1);
  const auto grant = only<GrantLease>();
  EXPECT_EQ(grant.session, 1);
  EXPECT_EQ(grant.lease, (Lease{.point_id = plan->points[0].id,
                                .epoch = 1,
                                .sweep = plan->id,
                                .point = plan->points[0].point,
                                .problem = plan->points[0].problem,
                                .measure = plan->points[0].measure,
                                .seed = 9,
                                .deadline_s = 30}));
  join(2);
  EXPECT_EQ(only<GrantLease>().lease.point_id, plan->points[1].id);
  join(3);
  EXPECT_TRUE(all<GrantLease>().empty());
}

TEST_F(SchedulerTest, AcknowledgesARowOnlyWhenItIsDurable) {
  submit("name: a\ntp: [1, 2]");
  join(1);
  const Lease lease = only<GrantLease>().lease;
  step(RowReported{1, row_for(lease)});
  EXPECT_TRUE(all<SendAck>().empty());
  EXPECT_EQ(only<StoreRow>().row.sweep, "a") << "rows carry the name, for people";
  EXPECT_EQ(only<GrantLease>().lease.point_id, plan->points[1].id)
      << "the agent goes on while the row is being stored";
  EXPECT_EQ(view().storing, 1);
  commit();
  EXPECT_EQ(only<SendAck>().ack, (Ack{lease.point_id, 1, Acceptance::accepted, "", lease.sweep}));
  EXPECT_EQ(view().ok, 1);
}

TEST_F(SchedulerTest, EndsASweepWhenItsLastRowIsDurable) {
  submit("name: a\ntp: 1");
  join(1);
  step(RowReported{1, row_for(only<GrantLease>().lease)});
  EXPECT_TRUE(all<SweepFinished>().empty());
  commit();
  EXPECT_EQ(only<SweepFinished>().sweep, plan->id);
  EXPECT_EQ(view().ok, 1) << "an ended sweep stays in view";
}

TEST_F(SchedulerTest, AnswersARepeatedReportAsDuplicate) {
  submit("name: a\ntp: [1, 2]");
  join(1);
  const Row row = row_for(only<GrantLease>().lease);
  step(RowReported{1, row});
  const std::vector<Action> first = actions;
  step(RowReported{1, row});
  EXPECT_TRUE(actions.empty()) << "not durable yet: no answer, and nothing stored again";
  actions = first;
  commit();
  ASSERT_EQ(all<SendAck>().size(), 2u);
  EXPECT_EQ(all<SendAck>()[1].ack.acceptance, Acceptance::duplicate);
  step(RowReported{1, row});
  EXPECT_EQ(only<SendAck>().ack.acceptance, Acceptance::duplicate);
}

TEST_F(SchedulerTest, AnswersARepeatAfterTheSweepHasEnded) {
  submit("name: a\ntp: 1");
  join(1);
  const Row row = row_for(only<GrantLease>().lease);
  step(RowReported{1, row});
  commit();
  step(RowReported{1, row});
  EXPECT_EQ(only<SendAck>().ack.acceptance, Acceptance::duplicate);
}

TEST_F(SchedulerTest, GivesAnExpiredLeaseToAnotherAgent) {
  submit("name: a\ntp: 1\nlimits: {point_timeout_s: 30}");
  join(1);
  join(2);
  now += seconds(34);
  step(AgentSpoke{1});
  step(AgentSpoke{2});
  step(Tick{});
  EXPECT_TRUE(actions.empty()) << "within the grace";
  now += seconds(1);
  step(Tick{});
  EXPECT_EQ(only<DropAgent>().session, 1);
  EXPECT_EQ(only<StoreAttempt>().outcome, "expired");
  EXPECT_TRUE(only<StoreAttempt>().counts);
  EXPECT_EQ(only<GrantLease>().session, 2);
  EXPECT_EQ(only<GrantLease>().lease.epoch, 2);
}

TEST_F(SchedulerTest, TakesSilenceForLoss) {
  submit("name: a\ntp: 1");
  join(1);
  now += seconds(9);
  step(AgentSpoke{1});
  now += seconds(9);
  step(Tick{});
  EXPECT_TRUE(actions.empty());
  now += seconds(1);
  step(Tick{});
  EXPECT_EQ(only<DropAgent>().reason, "silent for 10 s");
  EXPECT_EQ(only<StoreAttempt>().reason, "agent agent-1 silent for 10 s");
}

TEST_F(SchedulerTest, PrefersAnAgentThatDidNotFailThePoint) {
  submit("name: a\ntp: 1");
  join(1);
  const Lease lease = only<GrantLease>().lease;
  join(2);
  Row failed = row_for(lease, Status::failed);
  failed.retryable = true;
  step(RowReported{1, failed});
  EXPECT_EQ(only<GrantLease>().session, 2);
}

TEST_F(SchedulerTest, RefusesAStaleReportAndKeepsIt) {
  submit("name: a\ntp: 1");
  join(1);
  const Row late = row_for(only<GrantLease>().lease);
  step(AgentLost{1, "connection closed"});
  join(2);
  EXPECT_EQ(only<GrantLease>().lease.epoch, 2);
  step(RowReported{3, late});
  const auto stored = only<StoreAttempt>();
  EXPECT_EQ(stored.outcome, "stale");
  EXPECT_FALSE(stored.counts);
  EXPECT_EQ(stored.row, late);
  EXPECT_EQ(stored.ack->ack.acceptance, Acceptance::stale);
  EXPECT_EQ(stored.ack->ack.reason, "epoch 1 was superseded by 2");
  EXPECT_EQ(view().running, 1);
}

TEST_F(SchedulerTest, TakesALateReportWhileNobodyElseHasThePoint) {
  submit("name: a\ntp: 1");
  join(1);
  const Row late = row_for(only<GrantLease>().lease);
  step(AgentLost{1, "connection closed"});
  step(RowReported{2, late});
  EXPECT_EQ(only<StoreRow>().row.epoch, 1);
}

TEST_F(SchedulerTest, RefusesWhatItNeverGranted) {
  submit("name: a\ntp: 1");
  join(1);
  const Row good = row_for(only<GrantLease>().lease);
  Row row = good;
  row.epoch = 2;
  step(RowReported{1, row});
  EXPECT_EQ(only<SendAck>().ack.reason, "epoch 2 was never granted");
  row = good;
  row.point_id = "0123456789abcdef";
  step(RowReported{1, row});
  EXPECT_EQ(only<SendAck>().ack.reason, "unknown point '0123456789abcdef'");
  row = good;
  row.sweep = "nothing";
  step(RowReported{1, row});
  EXPECT_EQ(only<SendAck>().ack.acceptance, Acceptance::invalid);
  EXPECT_EQ(scheduler.totals().invalid, 3);
}

TEST_F(SchedulerTest, CountsAReportThatDoesNotMatchThePlanAsAFailedAttempt) {
  submit("name: a\ntp: 1");
  join(1);
  Row row = row_for(only<GrantLease>().lease);
  row.batch = 77;
  step(RowReported{1, row});
  EXPECT_EQ(only<StoreAttempt>().outcome, "invalid");
  EXPECT_EQ(only<StoreAttempt>().ack->ack.acceptance, Acceptance::invalid);
  EXPECT_EQ(only<GrantLease>().lease.epoch, 2);
  step(RowReported{1, row});
  EXPECT_EQ(only<SendAck>().ack.acceptance, Acceptance::invalid) << "the same answer again";
}

TEST_F(SchedulerTest, TriesARetryableFailureAgainUntilAttemptsAreUsedUp) {
  submit("name: a\ntp: 1\nlimits: {attempts: 2}");
  join(1);
  Row failed = row_for(only<GrantLease>().lease, Status::failed);
  failed.retryable = true;
  step(RowReported{1, failed});
  EXPECT_TRUE(all<StoreRow>().empty());
  EXPECT_EQ(only<StoreAttempt>().ack->ack.acceptance, Acceptance::accepted);
  failed.epoch = only<GrantLease>().lease.epoch;
  EXPECT_EQ(failed.epoch, 2);
  step(RowReported{1, failed});
  const Row row = only<StoreRow>().row;
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.epoch, 3) << "above every epoch an agent had";
  EXPECT_EQ(row.reason,
            "2 attempts failed; 1: failed: worker crashed: signal 9; 2: failed: worker crashed: "
            "signal 9");
  EXPECT_EQ(row.local_heads, 128);
}

TEST_F(SchedulerTest, DoesNotTryAMismatchAgain) {
  submit("name: a\ntp: 1");
  join(1);
  Row failed = row_for(only<GrantLease>().lease, Status::failed);
  failed.reason = "row 7 differs from the reference";
  step(RowReported{1, failed});
  EXPECT_EQ(only<StoreRow>().row.reason, "row 7 differs from the reference");
}

TEST_F(SchedulerTest, PutsAFailedPointBehindThoseThatFailedLess) {
  submit("name: a\ntp: [1, 2]");
  join(1);
  Row failed = row_for(only<GrantLease>().lease, Status::failed);
  failed.retryable = true;
  step(RowReported{1, failed});
  EXPECT_EQ(only<GrantLease>().lease.point_id, plan->points[1].id);
}

TEST_F(SchedulerTest, GoesOnFromWhatIsDurable) {
  std::vector<PointProgress> progress(3);
  progress[0] = {.state = PointState::done, .epoch = 1, .status = Status::ok, .resumed = true};
  progress[1] = {.state = PointState::running, .epoch = 4, .failures = {{2, "lost", "gone"}}};
  submit("name: a\ntp: [1, 2, 4]", progress);
  EXPECT_EQ(json_text(view()),
            str(R"({"id":")", plan->id, R"(","name":"a","backend":"","points":3,"pending":2,)",
                R"("running":0,"storing":0,"ok":1,"failed":0,"skipped":0,"cancelled":0,)",
                R"("resumed":1})"));
  join(1);
  EXPECT_EQ(only<GrantLease>().lease.point_id, plan->points[2].id);
  join(2);
  EXPECT_EQ(only<GrantLease>().lease.epoch, 5) << "epochs go on rising";
}

TEST_F(SchedulerTest, TakesARowOfBeforeTheRestart) {
  submit("name: a\ntp: 1", {{.state = PointState::running, .epoch = 1}});
  join(5);
  const Lease again = only<GrantLease>().lease;
  EXPECT_EQ(again.epoch, 2);
  Row old = row_for(again);
  old.epoch = 1;
  step(RowReported{5, old});
  EXPECT_EQ(only<StoreAttempt>().outcome, "stale");
}

TEST_F(SchedulerTest, EndsAtOnceASweepThatIsDoneAlready) {
  submit("name: a\ntp: 1", {{.state = PointState::done, .epoch = 1, .status = Status::ok}});
  EXPECT_EQ(only<SweepFinished>().sweep, plan->id);
}

TEST_F(SchedulerTest, ServesSweepsInOrderOfSubmission) {
  submit("name: a\ntp: 1");
  const std::string first = plan->id;
  submit("name: b\ntp: [1, 2]");
  join(1);
  EXPECT_EQ(only<GrantLease>().lease.sweep, first);
  join(2);
  EXPECT_EQ(only<GrantLease>().lease.sweep, plan->id);
}

TEST_F(SchedulerTest, GivesAPointOnlyToAgentsOfItsBackend) {
  submit("name: a\ntp: 1", {}, "cuda");
  join(1, {.backend = "cpu"});
  EXPECT_TRUE(all<GrantLease>().empty());
  join(2, {.backend = "cuda"});
  EXPECT_EQ(only<GrantLease>().session, 2);
}

TEST_F(SchedulerTest, SkipsAPointThatFitsNoAgent) {
  submit("name: a\ntp: 1\naxes: {context: [1K, 64K], batch: 16}");
  join(1, {.memory_bytes = 500'000'000});
  EXPECT_EQ(only<GrantLease>().lease.point.context, 1024);
  step(RowReported{1, row_for(only<GrantLease>().lease)});
  ASSERT_EQ(all<StoreRow>().size(), 2u);
  const Row skipped = all<StoreRow>()[1].row;
  EXPECT_EQ(skipped.status, Status::skipped);
  EXPECT_EQ(skipped.reason, memory_reason(plan->points[1].memory_bytes, 500'000'000));
}

TEST_F(SchedulerTest, KeepsAPointThatABusyAgentCanTake) {
  submit("name: a\ntp: 1\naxes: {context: [64K, 128K, 1K], batch: 16}");
  join(1, {.memory_bytes = 10'000'000'000});
  join(2, {.memory_bytes = 500'000'000});
  EXPECT_EQ(only<GrantLease>().lease.point.context, 1024);
  EXPECT_EQ(view().pending, 1);
}

TEST_F(SchedulerTest, CancelsASweepWithARowForEveryOpenPoint) {
  submit("name: a\ntp: [1, 2, 4]");
  join(1);
  const Lease lease = only<GrantLease>().lease;
  step(SweepCancelled{plan->id, "asked by the user"});
  EXPECT_EQ(only<SendCancel>().cancel, (Cancel{lease.point_id, 1, plan->id}));
  EXPECT_EQ(all<StoreRow>().size(), 3u);
  EXPECT_EQ(all<StoreRow>()[2].row.reason, "asked by the user");
  const std::vector<Action> cancelled = actions;
  step(RowReported{1, row_for(lease)});
  EXPECT_EQ(only<StoreAttempt>().outcome, "stale") << "its epoch is below that of the row";
  actions = cancelled;
  commit();
  EXPECT_EQ(only<SweepFinished>().sweep, plan->id);
  EXPECT_EQ(view().cancelled, 3);
}

TEST_F(SchedulerTest, GrantsNothingWhileShuttingDownAndBlamesNobody) {
  submit("name: a\ntp: [1, 2]");
  join(1);
  const Lease lease = only<GrantLease>().lease;
  step(ShutdownBegun{});
  EXPECT_EQ(only<SendCancel>().session, 1);
  EXPECT_TRUE(all<StoreAttempt>().empty());
  Row given_up = row_for(lease, Status::cancelled);
  step(RowReported{1, given_up});
  EXPECT_FALSE(only<StoreAttempt>().counts);
  EXPECT_TRUE(all<GrantLease>().empty());
  step(RowReported{1, row_for(lease)});
  EXPECT_EQ(only<StoreRow>().row.status, Status::ok) << "a row that still comes is taken";
}

TEST_F(SchedulerTest, SubmittingAQueuedSweepAgainChangesNothing) {
  submit("name: a\ntp: 1");
  submit("name: a\ntp: 1");
  EXPECT_EQ(scheduler.sweeps().size(), 1u);
}

TEST_F(SchedulerTest, ShowsWhoWorksOnWhat) {
  submit("name: a\ntp: 1");
  join(1);
  join(2);
  ASSERT_EQ(scheduler.agents().size(), 2u);
  EXPECT_EQ(scheduler.agents()[0].working_on, plan->points[0].id);
  EXPECT_EQ(scheduler.agents()[1].working_on, "");
}

}  // namespace
}  // namespace headsplit::coordinator

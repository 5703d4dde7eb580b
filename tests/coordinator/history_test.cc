// The checker finds each broken promise in a history that was made to break it, and none in a good
// one.

#include "tests/coordinator/history.h"

#include <gtest/gtest.h>

#include <set>

namespace headsplit::coordinator {
namespace {

using Kind = HistoryEntry::Kind;
using std::chrono::seconds;

const TimePoint kStart{std::chrono::hours(1)};

HistoryEntry entry(Kind kind, std::int64_t epoch = 1, int after_s = 0) {
  return {.kind = kind, .at = kStart + seconds(after_s), .point = "s/p", .epoch = epoch};
}
HistoryEntry granted(std::int64_t epoch = 1) {
  HistoryEntry grant = entry(Kind::granted, epoch);
  grant.deadline = kStart + seconds(10);
  return grant;
}
HistoryEntry row(std::int64_t epoch = 1) {
  HistoryEntry stored = entry(Kind::row_durable, epoch);
  stored.by_agent = true;
  return stored;
}
HistoryEntry answer(Acceptance acceptance) {
  HistoryEntry answered = entry(Kind::answered);
  answered.acceptance = acceptance;
  return answered;
}
HistoryEntry restored(bool done, std::int64_t epoch = 1) {
  HistoryEntry found = entry(Kind::restored, epoch);
  found.done = done;
  found.resumed = done;
  return found;
}
HistoryEntry planned(int ranks) {
  HistoryEntry point = entry(Kind::planned, 0);
  point.ranks = ranks;
  return point;
}

/// A point that is granted, measured, stored, acknowledged, and found again after a crash.
History good() {
  return {planned(0),
          granted(),
          entry(Kind::lease_durable),
          entry(Kind::lease_sent),
          entry(Kind::ticked, 0, 5),
          entry(Kind::attempt_closed),
          row(),
          answer(Acceptance::accepted),
          answer(Acceptance::duplicate),
          entry(Kind::crashed),
          restored(true),
          entry(Kind::ended)};
}

/// The promises that are broken when `extra` comes after entry `at` of the good history, or when
/// that entry is left out.
std::set<std::string> broken_with(std::size_t at, const HistoryEntry& extra) {
  History history = good();
  history.insert(history.begin() + static_cast<std::ptrdiff_t>(at) + 1, extra);
  std::set<std::string> promises;
  for (const auto& [promise, what] : broken_promises(history)) promises.insert(promise);
  return promises;
}
std::set<std::string> broken_without(std::size_t at) {
  History history = good();
  history.erase(history.begin() + static_cast<std::ptrdiff_t>(at));
  std::set<std::string> promises;
  for (const auto& [promise, what] : broken_promises(history)) promises.insert(promise);
  return promises;
}

using Promises = std::set<std::string>;

TEST(History, AGoodOneBreaksNothing) { EXPECT_TRUE(broken_promises(good()).empty()); }

TEST(History, ARowThatIsGoneAfterARestartBreaksP1) {
  EXPECT_EQ(broken_with(9, restored(false)), Promises{"P1"});
  EXPECT_TRUE(broken_without(6).count("P1")) << "acknowledged without being on the disk";
}

TEST(History, ASecondRowOrAnotherAnswerBreaksP2) {
  EXPECT_EQ(broken_with(6, row()), Promises{"P2"});
  EXPECT_EQ(broken_with(8, answer(Acceptance::stale)), Promises{"P2"});
}

TEST(History, APointWithoutARowOrASweepWithoutAnEndBreaksP3) {
  EXPECT_TRUE(broken_without(6).count("P3"));
  EXPECT_EQ(broken_without(11), Promises{"P3"});
}

TEST(History, AnEpochGivenTwiceOrAStaleRowBreaksP4) {
  EXPECT_EQ(broken_with(2, entry(Kind::lease_durable)), Promises{"P4"});
  EXPECT_EQ(broken_without(2), Promises({"P4"})) << "a lease sent before it is durable";
  EXPECT_TRUE(broken_with(3, entry(Kind::lease_durable, 2)).count("P4")) << "the row is of epoch 1";
}

TEST(History, AHalfGangBreaksP5) {
  HistoryEntry go = entry(Kind::go_sent);
  go.deadline = kStart + seconds(10);
  HistoryEntry half = row();
  half.ranks = 1;
  History history = {
      planned(2),         granted(), entry(Kind::lease_durable), entry(Kind::lease_sent),
      entry(Kind::ready), go};
  EXPECT_EQ(broken_promises(history).count("P5"), 1u) << "one of two ranks is ready";
  history = {planned(2), granted(), entry(Kind::lease_durable), half};
  EXPECT_EQ(broken_promises(history).count("P5"), 1u) << "a row of one rank";
}

TEST(History, AnAttemptPastItsDeadlineBreaksP6) {
  EXPECT_EQ(broken_with(4, entry(Kind::ticked, 0, 11)), Promises{}) << "ended in that very moment";
  History history = {planned(0), granted(), entry(Kind::ticked, 0, 11), entry(Kind::lease_durable)};
  EXPECT_EQ(broken_promises(history).count("P6"), 1u);
}

TEST(History, AFinishedPointThatIsGrantedAgainBreaksP7) {
  EXPECT_EQ(broken_with(10, entry(Kind::lease_durable, 2)), Promises{"P7"});
  HistoryEntry unmarked = restored(true);
  unmarked.resumed = false;
  EXPECT_EQ(broken_with(9, unmarked), Promises{"P7"});
}

}  // namespace
}  // namespace headsplit::coordinator

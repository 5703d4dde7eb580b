#include "coordinator/store.h"

#include "coordinator/sqlite.h"
#include "tests/coordinator/store_fixture.h"

namespace headsplit::coordinator {
namespace {

class StoreTest : public StoreFixture {
 protected:
  const Plan plan_ = plan_of("name: a\ntp: [1, 2, 4]");
};

TEST_F(StoreTest, KeepsAPlanWholeBeforeAnythingRuns) {
  const auto store = Store::open(path()).value();
  const StoredSweep begun = begin(*store, plan_, "cpu").value();
  EXPECT_EQ(*begun.plan, plan_);
  EXPECT_EQ(begun.run, 1);
  EXPECT_EQ(begun.backend, "cpu");
  EXPECT_EQ(begun.progress, std::vector<PointProgress>(3));
  const auto reader = StoreReader::open(path()).value();
  const SweepSummary sweep = reader->sweeps().value().at(0);
  EXPECT_EQ(sweep.id, plan_.id);
  EXPECT_EQ(sweep.points, 3);
  EXPECT_FALSE(sweep.finished());
}

TEST_F(StoreTest, GivesRowsBackAsTheyWere) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  finish(*store, plan_, 1);
  const auto reader = StoreReader::open(path()).value();
  const auto rows = reader->rows({}).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], row_of_point(plan_, 1, 1).row);
}

TEST_F(StoreTest, StoresTheRowsOfSkippedPointsWithThePlan) {
  const auto store = Store::open(path()).value();
  const Plan small = plan_of("name: b\ntp: [1, 2]\naxes: {context: [1K, 64K]}", 100'000'000);
  const StoredSweep begun = begin(*store, small).value();
  EXPECT_EQ(begun.progress[2].state, PointState::done);
  EXPECT_EQ(begun.progress[2].status, Status::skipped);
  EXPECT_FALSE(begun.progress[2].resumed);
  const auto rows = StoreReader::open(path()).value()->rows({.status = Status::skipped}).value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].reason, small.points[2].reason);
}

TEST_F(StoreTest, RefusesASecondRowOfAPoint) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  finish(*store, plan_, 0);
  const auto again = write(*store, row_of_point(plan_, 0, 1));
  EXPECT_EQ(again.error().kind, ErrorKind::mismatch);
  EXPECT_TRUE(write(*store, lease_of(plan_, 1, 1))) << "one bad record does not spoil the rest";
}

TEST_F(StoreTest, RefusesAStaleRowAndAnEpochThatIsNotNew) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  ASSERT_TRUE(write(*store, lease_of(plan_, 0, 3)));
  EXPECT_FALSE(write(*store, lease_of(plan_, 0, 3)));
  EXPECT_FALSE(write(*store, row_of_point(plan_, 0, 2)));
  EXPECT_TRUE(write(*store, row_of_point(plan_, 0, 3)));
  EXPECT_FALSE(write(*store, lease_of(plan_, 0, 4))) << "a finished point is not leased again";
}

TEST_F(StoreTest, RefusesRecordsOfUnknownSweepsAndPoints) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  EXPECT_FALSE(write(*store, LeaseWrite{"nothing", plan_.points[0].id, 1, ""}));
  EXPECT_FALSE(write(*store, LeaseWrite{plan_.id, "nothing", 1, ""}));
  EXPECT_FALSE(write(*store, AttemptWrite{
                                 plan_.id,
                                 "nothing",
                                 1,
                                 "lost",
                                 "gone",
                                 true,
                                 {},
                             }));
}

TEST_F(StoreTest, GoesOnAfterARestartWithEpochsAndFailures) {
  {
    const auto store = Store::open(path()).value();
    begin(*store, plan_, "cpu").value();
    finish(*store, plan_, 0);
    ASSERT_TRUE(write(*store, lease_of(plan_, 1, 1)));
    ASSERT_TRUE(write(*store, AttemptWrite{plan_.id, plan_.points[1].id, 1, "lost", "gone", true}));
    ASSERT_TRUE(write(*store, lease_of(plan_, 1, 2)));
  }
  const auto store = Store::open(path()).value();
  const auto restored = store->restore().value().open;
  ASSERT_EQ(restored.size(), 1u);
  Plan open = plan_;
  open.points[0] = {.id = plan_.points[0].id};  // done: nothing else of it is needed
  EXPECT_EQ(*restored[0].plan, open);
  EXPECT_EQ(restored[0].backend, "cpu");
  EXPECT_EQ(restored[0].run, 2);
  EXPECT_EQ(json_text(restored[0].progress),
            R"([{"state":"done","epoch":1,"failures":[],"status":"ok","resumed":true},)"
            R"({"state":"pending","epoch":2,)"
            R"("failures":[{"epoch":1,"outcome":"lost","reason":"gone"}],"status":"failed",)"
            R"("resumed":false},)"
            R"({"state":"pending","epoch":0,"failures":[],"status":"failed","resumed":false}])");
}

TEST_F(StoreTest, KeepsHowALateReportSaysThatAnAttemptEnded) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  ASSERT_TRUE(write(*store, lease_of(plan_, 0, 1)));
  const std::string id = plan_.points[0].id;
  ASSERT_TRUE(write(*store, AttemptWrite{plan_.id, id, 1, "expired", "late", true}));
  const Row row = row_of_point(plan_, 0, 1, Status::failed).row;
  ASSERT_TRUE(write(*store, AttemptWrite{plan_.id, id, 1, "failed", "crashed", false, row}));
  const StoredSweep again = begin(*store, plan_).value();
  EXPECT_EQ(again.progress[0].failures, (std::vector<AttemptFailure>{{1, "failed", "crashed"}}));
}

TEST_F(StoreTest, MarksRowsOfEarlierRunsAsResumed) {
  {
    const auto store = Store::open(path()).value();
    begin(*store, plan_).value();
    finish(*store, plan_, 0);
  }
  const auto store = Store::open(path()).value();
  store->restore().value();
  EXPECT_EQ(begin(*store, plan_).value().run, 2) << "restored already: joined, not begun again";
  finish(*store, plan_, 1);
  const auto rows = StoreReader::open(path()).value()->rows({}).value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].resumed);
  EXPECT_FALSE(rows[1].resumed);
}

TEST_F(StoreTest, BeginsANewRunOfAFinishedSweepAndKeepsItsRows) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  for (const std::size_t at : {0, 1, 2}) finish(*store, plan_, at);
  const StoredSweep again = begin(*store, plan_).value();
  EXPECT_EQ(again.run, 2);
  for (const auto& progress : again.progress) EXPECT_EQ(progress.state, PointState::done);
}

TEST_F(StoreTest, OpensCancelledPointsAgainWhenTheSweepIsBegunAgain) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  finish(*store, plan_, 0);
  finish(*store, plan_, 1, Status::cancelled);
  finish(*store, plan_, 2, Status::cancelled);
  const StoredSweep again = begin(*store, plan_).value();
  EXPECT_EQ(again.progress[0].state, PointState::done);
  EXPECT_EQ(again.progress[1].state, PointState::pending);
  EXPECT_EQ(again.progress[1].epoch, 1) << "epochs are never used twice";
  auto database = Database::open(path(), OpenMode::read_only, 1000).value();
  EXPECT_EQ(database.integer("SELECT count(run) FROM progress").value(), 1);
  EXPECT_EQ(StoreReader::open(path()).value()->rows({}).value().size(), 1u);
}

TEST_F(StoreTest, RefusesToMixBackendsInOneSweep) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_, "cpu").value();
  EXPECT_EQ(begin(*store, plan_, "cuda").error().message,
            path() +
                ": sweep a was begun on backend cpu in this database, and is now asked for "
                "on cuda; name another database, or the same backend");
  EXPECT_EQ(begin(*store, plan_).value().backend, "cpu");
}

TEST_F(StoreTest, RestoresFinishedSweepsAsIdsSoThatRepeatsGetTheirAnswer) {
  {
    const auto store = Store::open(path()).value();
    begin(*store, plan_).value();
    finish(*store, plan_, 0);
    ASSERT_TRUE(write(*store, lease_of(plan_, 1, 1)));
    ASSERT_TRUE(write(*store, AttemptWrite{plan_.id, plan_.points[1].id, 1, "lost", "gone", true}));
    ASSERT_TRUE(write(*store, lease_of(plan_, 1, 2)));
    ASSERT_TRUE(write(*store, row_of_point(plan_, 1, 2)));
    finish(*store, plan_, 2, Status::failed);
  }
  const auto restored = Store::open(path()).value()->restore().value();
  EXPECT_TRUE(restored.open.empty());
  ASSERT_EQ(restored.finished.size(), 1u);
  const FinishedSweep& sweep = *restored.finished[0];
  EXPECT_EQ(sweep.view().id, plan_.id);
  EXPECT_EQ(sweep.view().name, "a");
  EXPECT_EQ(sweep.view().points, 3);
  EXPECT_EQ(sweep.view().ok, 2);
  EXPECT_EQ(sweep.view().failed, 1);
  ASSERT_NE(sweep.find(plan_.points[1].id), nullptr);
  EXPECT_EQ(sweep.find(plan_.points[1].id)->epoch, 2);
  EXPECT_EQ(sweep.failures_of(plan_.points[1].id),
            (std::vector<AttemptFailure>{{1, "lost", "gone"}}));
  EXPECT_TRUE(sweep.failures_of(plan_.points[0].id).empty());
  EXPECT_EQ(sweep.find("0000000000000000"), nullptr);
}

TEST_F(StoreTest, FiltersRowsAndListsPoints) {
  const auto store = Store::open(path()).value();
  const Plan other = plan_of("name: other\ntp: 2");
  begin(*store, plan_).value();
  begin(*store, other).value();
  finish(*store, plan_, 0);
  finish(*store, plan_, 1, Status::failed);
  finish(*store, other, 0);
  const auto reader = StoreReader::open(path()).value();
  EXPECT_EQ(reader->rows({}).value().size(), 3u);
  EXPECT_EQ(reader->rows({.sweep = "other"}).value().size(), 1u);
  EXPECT_EQ(reader->rows({.sweep = plan_.id}).value().size(), 2u);
  EXPECT_EQ(reader->rows({.layout = "tp2"}).value().size(), 2u);
  EXPECT_EQ(reader->rows({.sweep = "a", .status = Status::failed}).value().size(), 1u);
  EXPECT_EQ(reader->rows({.kernel = "nothing"}).value().size(), 0u);
  const auto points = reader->points(plan_.id).value();
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].status, Status::failed);
  EXPECT_EQ(points[2].state, PointState::pending);
}

TEST_F(StoreTest, LeavesOneFileBehindWhenItIsClosed) {
  {
    const auto store = Store::open(path()).value();
    begin(*store, plan_).value();
    finish(*store, plan_, 0);
  }
  EXPECT_TRUE(StoreReader::open(path()).value()->rows({}).value().size() == 1);
  int files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1);
}

TEST_F(StoreTest, KeepsItsLogShortWhileItIsWritten) {
  const auto store = Store::open(path()).value();
  const Plan plan = plan_of(
      "name: a\naxes: {context: 1K, batch: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
      "measure: {repeats: 1000}");
  begin(*store, plan).value();
  const auto log_bytes = [&] { return std::filesystem::file_size(path() + "-wal"); };
  constexpr std::size_t kRows = 100;
  constexpr std::size_t kRowBytes = 2 * 4096;  // two pages, at least
  std::size_t at = 0;
  while (at + kRows < plan.points.size() && at * kRowBytes < 2 * log_bytes()) {
    for (std::size_t i = 0; i < kRows; ++i) {
      RowWrite row = row_of_point(plan, at++, 1);
      row.row.samples_us.assign(400, 123.456);
      store->write(std::move(row), [](Result<void>) {});
    }
    ASSERT_TRUE(write(*store, lease_of(plan, at, 1)));
  }
  EXPECT_GE(at * kRowBytes, 2 * log_bytes()) << "the log is as long as all that was ever written";
}

TEST_F(StoreTest, CompletesInOrderOfSubmission) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    store->write(lease_of(plan_, 0, i + 1), [&order, i](Result<void> stored) {
      if (stored) order.push_back(i);
    });
  }
  ASSERT_TRUE(write(*store, lease_of(plan_, 1, 1)));
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(store->queued(), 0u);
}

TEST_F(StoreTest, CommitsWhatIsHandedInAtOnceTogether) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  ASSERT_TRUE(write(*store, lease_of(plan_, 0, 1)));
  std::promise<std::int64_t> epoch_seen;
  std::vector<Store::Write> records;
  records.push_back({row_of_point(plan_, 0, 1), [&](Result<void> stored) {
                       EXPECT_TRUE(stored);
                       const auto reader = StoreReader::open(path()).value();
                       epoch_seen.set_value(reader->points(plan_.id).value()[1].epoch);
                     }});
  records.push_back({lease_of(plan_, 1, 1), [](Result<void> stored) { EXPECT_TRUE(stored); }});
  store->write(std::move(records));
  EXPECT_EQ(epoch_seen.get_future().get(), 1) << "the grant is there when the row is answered";
}

TEST_F(StoreTest, StopsForGoodWhenItsFileIsDeleted) {
  const auto store = Store::open(path()).value();
  begin(*store, plan_).value();
  std::filesystem::remove(path());
  const std::string wanted = path() + ": was deleted while in use; rows would be lost";
  EXPECT_EQ(write(*store, lease_of(plan_, 0, 1)).error().message, wanted);
  EXPECT_EQ(write(*store, lease_of(plan_, 1, 1)).error().message, wanted);
}

}  // namespace
}  // namespace headsplit::coordinator

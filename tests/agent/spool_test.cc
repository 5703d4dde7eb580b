#include "agent/spool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headsplit::agent {
namespace {

namespace fs = std::filesystem;

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() { fs::remove_all(folder_); }
  ~SpoolTest() override { fs::remove_all(folder_); }

  Spool open(std::size_t rows_max = 256) {
    return Spool::open({.folder = folder_, .agent = "n1-0", .rows_max = rows_max}).value();
  }
  static Row row_of_epoch(std::int64_t epoch) {
    Row row = row_of(Point{.batch = 3});
    row.epoch = epoch;
    row.sweep = "s";
    return row;
  }
  static Ack ack_of(const Row& row) {
    return {row.point_id, row.epoch, Acceptance::accepted, "", row.sweep};
  }
  /// Runs `work` in a process of its own, which then dies as by kill -9.
  template <class Work>
  static void in_a_process_that_is_killed(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  const std::string folder_ = (fs::temp_directory_path() / str("headsplit_spool_", ::getpid()));
};

TEST_F(SpoolTest, KeepsARowOverKillMinusNineUntilItIsAcknowledged) {
  in_a_process_that_is_killed([&] {
    Spool spool = open();
    for (int epoch = 1; epoch <= 3; ++epoch) spool.add(row_of_epoch(epoch));
    spool.forget(ack_of(row_of_epoch(2)));
  });
  {
    Spool next = open();
    ASSERT_EQ(next.rows(), (std::vector<Row>{row_of_epoch(1), row_of_epoch(3)}));
    EXPECT_EQ(files().size(), 1u) << "what was left behind is its own now";
    next.forget(ack_of(row_of_epoch(1)));
    next.forget(ack_of(row_of_epoch(3)));
  }
  EXPECT_FALSE(fs::exists(folder_)) << "nothing waits, so nothing is left behind";
}

TEST_F(SpoolTest, TakesNothingFromAnAgentThatLivesOrHasAnotherName) {
  int ready[2] = {};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Spool spool = open();
    spool.add(row_of_epoch(1));
    [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
    ::pause();
  }
  char told = 0;
  ASSERT_EQ(::read(ready[0], &told, 1), 1);
  EXPECT_TRUE(open().rows().empty()) << "its owner lives";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(Spool::open({.folder = folder_, .agent = "n1_0"})->rows().empty());
  EXPECT_EQ(open().rows().size(), 1u);
}

TEST_F(SpoolTest, PassesOverATornOrDamagedLine) {
  in_a_process_that_is_killed([&] {
    Spool spool = open();
    for (int epoch = 1; epoch <= 3; ++epoch) spool.add(row_of_epoch(epoch));
  });
  const fs::path file = files().at(0);
  std::string text(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary)
      .read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto second = text.find('\n', 1);
  text[second + 60] ^= 1;         // a damaged row
  text.resize(text.size() - 10);  // a torn one
  std::ofstream(file, std::ios::binary) << text;
  Spool next = open();
  EXPECT_EQ(next.rows(), std::vector<Row>{row_of_epoch(1)});
}

TEST_F(SpoolTest, IsFullAtItsLimitAndHasRoomAgainAfterAnAcknowledgement) {
  Spool spool = open(2);
  spool.add(row_of_epoch(1));
  EXPECT_FALSE(spool.full());
  spool.add(row_of_epoch(2));
  EXPECT_TRUE(spool.full());
  spool.add(row_of_epoch(3));
  EXPECT_EQ(spool.rows().size(), 3u) << "a row is never dropped";
  spool.forget(ack_of(row_of_epoch(1)));
  EXPECT_TRUE(spool.full());
  spool.forget(ack_of(row_of_epoch(2)));
  EXPECT_FALSE(spool.full());
}

TEST_F(SpoolTest, KeepsARowThatTheDiskDoesNotTakeAndCountsAsFullUntilItIsSaved) {
  ::signal(SIGXFSZ, SIG_IGN);
  Spool spool = open();
  spool.add(row_of_epoch(1));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit none = before;
  none.rlim_cur = fs::file_size(files().at(0)) + 10;  // the disk is full
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  spool.add(row_of_epoch(2));
  const bool full = spool.full();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(full);
  EXPECT_EQ(spool.rows().size(), 2u);
  EXPECT_FALSE(spool.full()) << "the disk has room again";
}

TEST_F(SpoolTest, SaysWhichFolderCannotBeMade) {
  const auto spool = Spool::open({.folder = "/proc/nowhere", .agent = "a"});
  ASSERT_FALSE(spool);
  EXPECT_TRUE(spool.error().message.starts_with("/proc/nowhere: cannot be made: "))
      << spool.error().message;
}

TEST_F(SpoolTest, WithoutAFolderKeepsRowsInMemory) {
  Spool spool = Spool::open({.agent = "a"}).value();
  spool.add(row_of_epoch(1));
  EXPECT_EQ(spool.rows().size(), 1u);
  EXPECT_FALSE(spool.full());
}

}  // namespace
}  // namespace headsplit::agent

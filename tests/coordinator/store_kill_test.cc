// What a killed process had acknowledged is there: a store in a child process, and SIGKILL.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/store.h"

namespace headsplit::coordinator {
namespace {

/// Begins the sweep in a child process that writes rows, tells each acknowledged one over a pipe,
/// and is killed in the middle.
std::vector<std::int64_t> acknowledged_before_kill(const std::string& path, const Plan& plan,
                                                   std::size_t count_before_kill) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = Store::open(path).value();
    store->begin_sweep(plan, "", [](Result<StoredSweep>) {});
    for (std::size_t at = 0; at < plan.points.size(); ++at) {
      store->write(LeaseWrite{plan.id, plan.points[at].id, 1, ""}, [](Result<void>) {});
      Row row = row_of(plan.points[at].point);
      row.epoch = 1;
      store->write(RowWrite{plan.id, row}, [&, at](Result<void> stored) {
        const auto position = static_cast<std::int64_t>(at);
        if (stored && ::write(ends[1], &position, sizeof position) < 0) ::_exit(1);
      });
      if (at % 16 == 0) ::usleep(2000);
    }
    ::pause();
  }
  ::close(ends[1]);
  std::vector<std::int64_t> acknowledged;
  std::int64_t position = 0;
  while (::read(ends[0], &position, sizeof position) == sizeof position) {
    acknowledged.push_back(position);
    if (acknowledged.size() == count_before_kill) ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return acknowledged;
}

TEST(Promise, P1_AnAcknowledgedRowSurvivesKillMinusNine) {
  const auto folder = std::filesystem::temp_directory_path() / str("headsplit_p1_", ::getpid());
  std::filesystem::create_directories(folder);
  std::string batches;
  for (int i = 1; i <= 400; ++i) batches += str(i == 1 ? "" : ", ", i);
  const Plan plan =
      make_plan(sweep_from_yaml("name: a\naxes: {batch: [" + batches + "]}", "s").value(), {})
          .value();
  for (const std::size_t count : {1, 20, 150, 333}) {
    const std::string path = (folder / str(count, ".db")).string();
    const auto acknowledged = acknowledged_before_kill(path, plan, count);
    ASSERT_GE(acknowledged.size(), count);
    const auto store = Store::open(path).value();
    const RestoredSweeps restored = store->restore().value();
    if (restored.open.empty()) {  // the kill came after the last row
      EXPECT_EQ(restored.finished.at(0)->view().done(), std::ssize(plan.points));
      continue;
    }
    const auto& progress = restored.open.at(0).progress;
    for (const std::int64_t at : acknowledged) {
      EXPECT_EQ(progress[static_cast<std::size_t>(at)].state, PointState::done) << at;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headsplit::coordinator

#include <signal.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "bench/reliability.h"
#include "bench/running_coordinator.h"
#include "bench/scratch_folder.h"
#include "cli/sweep_client.h"
#include "coordinator/store.h"

namespace headsplit::bench {
namespace {

using namespace coordinator;

constexpr std::size_t kStoredRows = 1'000'000;
constexpr double kRecoveryMaxS = 3;

Plan plan_of(const std::string& name, int repeats) {
  Sweep sweep = sweep_from_yaml("name: " + name + "\naxes: {context: 1K}", "bench").value();
  sweep.measure.repeats = repeats;
  return make_plan(sweep, std::nullopt).value();
}

/// In a process of its own: stores the rows of ten sweeps and most of an eleventh, then is killed
/// in the middle of a commit.
void write_until_killed(const std::string& path, int ready) {
  const auto store = Store::open(path).value();
  std::size_t stored = 0;
  for (int sweep = 0; sweep <= 10; ++sweep) {
    const Plan plan = plan_of(str("s", sweep), sweep < 10 ? 100'000 : 10'000);
    std::promise<void> begun;
    store->begin_sweep(plan, "", [&](const Result<StoredSweep>&) { begun.set_value(); });
    begun.get_future().get();
    for (const PlannedPoint& planned : plan.points) {
      Row row = row_of(planned.point);
      row.epoch = 1;
      row.time_us = 100;
      row.samples_us.assign(30, 123.456);
      store->write(LeaseWrite{plan.id, planned.id, 1, "a"}, [](const Result<void>&) {});
      store->write(RowWrite{plan.id, std::move(row)}, [&](const Result<void>&) {
        if (++stored == kStoredRows + 5000) {
          [[maybe_unused]] const auto told = ::write(ready, "x", 1);
        }
      });
      while (store->queued() > 8192) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ::pause();
}

}  // namespace

Result<bool> recovery() {
  const ScratchFolder folder = TRY(ScratchFolder::make(std::filesystem::current_path()));
  const std::string path = folder / "rows.db";
  int ends[2] = {};
  if (::pipe(ends) != 0) return fail(ErrorKind::io, "pipe");
  const pid_t child = ::fork();
  if (child == 0) write_until_killed(path, ends[1]);
  char told = 0;
  if (::read(ends[0], &told, 1) != 1) return fail(ErrorKind::io, "the writer failed");
  ::kill(child, SIGKILL);
  const double size_gib = static_cast<double>(std::filesystem::file_size(path)) / (1 << 30);
  RunningCoordinator coordinator = TRY(RunningCoordinator::start(path));
  const auto sweeps = TRY(cli::sweeps_of(coordinator.server));
  std::int64_t rows = 0;
  for (const SweepView& sweep : sweeps) rows += sweep.done();
  const bool whole = rows >= static_cast<std::int64_t>(kStoredRows);
  return tell(whole && coordinator.start_s < kRecoveryMaxS,
              str("kill -9, then from start to serving ", coordinator.start_s, " s, with ", rows,
                  " rows found (", size_gib, " GiB)"));
}

}  // namespace headsplit::bench

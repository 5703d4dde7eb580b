// `headsplit run` as a user has it: the real programs, real sockets, a real database.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "core/json.h"
#include "core/row.h"
#include "tests/e2e/command.h"

namespace headsplit::e2e {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> run_argv(const std::string& sweep, const std::string& database) {
  return {program("headsplit"), "run", sweep, "--db", database, "--backend", "cpu"};
}

std::vector<Row> exported_rows(const Scratch& scratch, const std::string& database) {
  const Finished exported =
      run(scratch, {program("headsplit"), "export", "--db", database, "--format", "jsonl"});
  EXPECT_EQ(exported.exit_status, 0) << exported.err;
  std::vector<Row> rows;
  std::istringstream lines(exported.out);
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(value_from_text<Row>(line).value());
  }
  return rows;
}

TEST(Run, EndsWithTheErosionTableAndADurableRowForEveryPoint) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const Finished ran = run(scratch, run_argv(tiny_sweep(scratch), database));
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  for (const char* word : {"tp1", "tp2", "local heads", "speed-up", "intensity", "GB/s"}) {
    EXPECT_NE(ran.out.find(word), std::string::npos) << word << " is not in\n" << ran.out;
  }
  const auto rows = exported_rows(scratch, database);
  ASSERT_EQ(rows.size(), 4u);
  for (const Row& row : rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_FALSE(row.resumed);
    EXPECT_EQ(row.local_heads, 128 / row.tp);
    EXPECT_LE(row.error_vs_reference.value(), 1);
  }
}

TEST(Run, MeasuresEveryKernelOfKeysAndValuesOfEachHeadOnTheCpu) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const std::string sweep = scratch.file(
      "per-head.yaml",
      "name: per-head\nmodel: deepseek-v3\n"
      "kernels: [mha_decode, gqa_decode, mqa_decode, mla_expanded, kv_expand]\n"
      "tp: [16]\naxes: {batch: 2, query_tokens: [1, 33], context: 100, lengths: ragged}\n"
      "measure: {min_time_ms: 1, max_noise: 0.5}\n");
  const Finished ran = run(scratch, run_argv(sweep, database));
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  const auto rows = exported_rows(scratch, database);
  ASSERT_EQ(rows.size(), 10u);
  for (const Row& row : rows) {
    EXPECT_EQ(row.status, Status::ok) << row.kernel << ": " << row.reason;
    EXPECT_LE(row.error_vs_reference.value(), 1);
    EXPECT_EQ(row.local_heads, 8);
  }
}

TEST(Run, OnTheSameDatabaseMeasuresNothingTwiceAndMarksWhatItKept) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const auto argv = run_argv(tiny_sweep(scratch), database);
  ASSERT_EQ(run(scratch, argv).exit_status, 0);
  const auto first = exported_rows(scratch, database);
  const Finished again = run(scratch, argv);
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_NE(again.err.find("4 points"), std::string::npos) << again.err;
  const auto second = exported_rows(scratch, database);
  ASSERT_EQ(second.size(), 4u);
  for (std::size_t i = 0; i < second.size(); ++i) {
    EXPECT_TRUE(second[i].resumed);
    EXPECT_EQ(second[i].started_unix_s, first[i].started_unix_s);
    EXPECT_EQ(second[i].epoch, first[i].epoch);
  }
}

/// Whether a run has stored its first row.
bool has_rows(const Scratch& scratch, const std::string& database) {
  return std::filesystem::exists(database) &&
         !run(scratch, {program("headsplit"), "export", "--db", database, "--format", "jsonl"})
              .out.empty();
}

TEST(Run, StoppedByASignalSaysHowToGoOnAndTheNextRunFinishes) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const std::string sweep =
      scratch.file("long.yaml",
                   "name: long\nmodel: deepseek-v3\nkernels: [mla_dense]\ntp: [1, 2, 4, 8]\n"
                   "axes: {batch: [1, 2, 3], context: [64]}\n"
                   "measure: {min_time_ms: 60, max_noise: 0.5}\n");
  Command command(scratch, run_argv(sweep, database));
  for (int tries = 0; tries < 600 && !has_rows(scratch, database); ++tries) {
    std::this_thread::sleep_for(50ms);
  }
  command.child().signal(SIGINT);
  const Finished stopped = command.finish(30s);
  EXPECT_EQ(stopped.exit_status, 3) << stopped.err;
  EXPECT_NE(stopped.err.find("Go on with: headsplit run"), std::string::npos) << stopped.err;
  const Finished finished = run(scratch, run_argv(sweep, database));
  EXPECT_EQ(finished.exit_status, 0) << finished.err;
  EXPECT_EQ(exported_rows(scratch, database).size(), 12u);
}

TEST(Run, LeavesNoProcessBehind) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  ASSERT_EQ(run(scratch, run_argv(tiny_sweep(scratch), database)).exit_status, 0);
  // The database's path is on the coordinator's command line, and agents die with their parent.
  // pgrep leaves itself out; the shell that starts it has become it by then.
  const Finished found = run(scratch, {"pgrep", "-f", "-a", "headsplit-.*" + database});
  EXPECT_EQ(found.out, "");
}

TEST(Run, WritesItsRowsIntoTheOutFolder) {
  const Scratch scratch;
  auto argv = run_argv(tiny_sweep(scratch), scratch.path("rows.db"));
  argv.insert(argv.end(), {"--out", scratch.path("out"), "--json"});
  const Finished ran = run(scratch, argv);
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_TRUE(parse_json(ran.out)) << ran.out;
  EXPECT_TRUE(std::filesystem::exists(scratch.path("out/tiny.jsonl")));
}

}  // namespace
}  // namespace headsplit::e2e

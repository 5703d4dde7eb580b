// Bad input: each a one-line error that names file, line and field, exit 2, nothing half-written.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/e2e/command.h"

namespace headsplit::e2e {
namespace {

/// The error is one line on stderr that starts with our name and holds each of the words.
void expect_usage_error(const Finished& finished, const std::vector<std::string>& words) {
  EXPECT_EQ(finished.exit_status, 2) << finished.err;
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  EXPECT_TRUE(finished.err.starts_with("headsplit")) << finished.err;
  EXPECT_TRUE(finished.out.empty()) << finished.out;
  for (const std::string& word : words) {
    EXPECT_NE(finished.err.find(word), std::string::npos) << word << " is not in: " << finished.err;
  }
}

Finished run_sweep_text(const Scratch& scratch, const std::string& text) {
  const std::string database = scratch.path("rows.db");
  const Finished finished =
      run(scratch, {program("headsplit"), "run", scratch.file("bad.yaml", text), "--db", database,
                    "--backend", "cpu"});
  EXPECT_FALSE(std::filesystem::exists(database)) << "a bad sweep must not leave a database";
  return finished;
}

TEST(BadInput, MalformedYamlNamesTheLine) {
  const Scratch scratch;
  expect_usage_error(run_sweep_text(scratch, "name: x\naxes: {batch: [1,\n"), {"bad.yaml:"});
}

TEST(BadInput, AnUnknownKeyComesWithTheNearestLegalOne) {
  const Scratch scratch;
  expect_usage_error(run_sweep_text(scratch, "name: x\nmodel: deepseek-v3\nkernls: [mla_dense]\n"),
                     {"bad.yaml:3:1", "kernls", "kernels"});
}

TEST(BadInput, SizesOfZeroBelowZeroAndBeyondReasonAreRefused) {
  const Scratch scratch;
  for (const char* size : {"0", "-4", "99999999999999"}) {
    const std::string text =
        "name: x\nmodel: deepseek-v3\naxes: {batch: [" + std::string(size) + "]}\n";
    expect_usage_error(run_sweep_text(scratch, text), {"bad.yaml:3:", "axes.batch"});
  }
}

TEST(BadInput, ATpThatDoesNotDivideTheHeadsListsTheLegalOnes) {
  const Scratch scratch;
  expect_usage_error(run_sweep_text(scratch, "name: x\nmodel: deepseek-v3\ntp: [3]\n"),
                     {"bad.yaml:3:", "tp", "1, 2, 4, 8, 16, 32, 64, 128"});
}

TEST(BadInput, AMissingModelFileIsNamed) {
  const Scratch scratch;
  expect_usage_error(run_sweep_text(scratch, "name: x\nmodel: ./nowhere.json\n"),
                     {"bad.yaml:2:", "nowhere.json"});
}

TEST(BadInput, AnUnknownModelComesWithTheNearestOnes) {
  const Scratch scratch;
  expect_usage_error(run_sweep_text(scratch, "name: x\nmodel: deepseek-v4000\n"), {"deepseek-v3"});
}

TEST(BadInput, AMissingSweepFileIsNamed) {
  const Scratch scratch;
  expect_usage_error(run(scratch, {program("headsplit"), "run", "/nowhere/sweep.yaml"}),
                     {"/nowhere/sweep.yaml"});
}

Finished run_on_database(const Scratch& scratch, const std::string& database) {
  return run(scratch, {program("headsplit"), "run", tiny_sweep(scratch), "--db", database,
                       "--backend", "cpu"});
}

TEST(BadInput, AFileThatIsNoDatabaseIsLeftAsItWas) {
  const Scratch scratch;
  const std::string text(8192, 'x');
  const std::string database = scratch.file("rows.db", text);
  expect_usage_error(run_on_database(scratch, database), {"rows.db", "not a database"});
  const Finished shown = run(scratch, {"/bin/cat", database});
  EXPECT_EQ(shown.out, text);
}

TEST(BadInput, ADatabaseOfANewerSchemaIsRefusedWithBothVersions) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  ASSERT_EQ(run_on_database(scratch, database).exit_status, 0);
  run(scratch, {"sqlite3", database, "PRAGMA user_version = 999"});
  expect_usage_error(run_on_database(scratch, database), {"rows.db", "999"});
}

TEST(BadInput, ADatabaseInAFolderThatDoesNotExistIsNamed) {
  const Scratch scratch;
  expect_usage_error(run_on_database(scratch, scratch.path("no/such/rows.db")), {"no/such"});
}

TEST(BadInput, AnUnknownOptionOrVerbEndsWithUsage) {
  const Scratch scratch;
  EXPECT_EQ(run(scratch, {program("headsplit"), "dance"}).exit_status, 2);
  EXPECT_EQ(run(scratch, {program("headsplit"), "run", "--quickly"}).exit_status, 2);
  EXPECT_EQ(run(scratch, {program("headsplit"), "--help"}).exit_status, 0);
  EXPECT_EQ(run(scratch, {program("headsplit"), "run", "--help"}).exit_status, 0);
}

TEST(BadInput, ACoordinatorThatIsNotThereIsNamed) {
  const Scratch scratch;
  const Finished finished =
      run(scratch, {program("headsplit"), "status", "--coordinator", "http://127.0.0.1:1"});
  EXPECT_EQ(finished.exit_status, 1);
  EXPECT_NE(finished.err.find("http://127.0.0.1:1"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace headsplit::e2e

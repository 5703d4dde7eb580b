// Kernel plug-ins in a sweep, through the real programs: one that works, and ones that do not.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "core/json.h"
#include "core/row.h"
#include "tests/e2e/command.h"

namespace headsplit::e2e {
namespace {

/// Rows by kernel of a sweep of one point a kernel, run on the CPU.
struct Ran {
  int exit_status = -1;
  std::string err;
  std::map<std::string, Row> rows;
};

Ran run_kernels(const std::string& kernels) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const std::string sweep = scratch.file(
      "plugins.yaml", "name: plugins\nmodel: deepseek-v3\nkernels: [" + kernels +
                          "]\nlayouts: [tp8]\naxes: {batch: 1, context: 64}\n"
                          "measure: {min_time_ms: 1, max_noise: 0.5}\nlimits: {attempts: 1}\n");
  ::setenv("HEADSPLIT_PLUGINS", PLUGIN_FOLDER, 1);
  const Finished ran =
      run(scratch, {program("headsplit"), "run", sweep, "--db", database, "--backend", "cpu"});
  const Finished exported =
      run(scratch, {program("headsplit"), "export", "--db", database, "--format", "jsonl"});
  Ran result{.exit_status = ran.exit_status, .err = ran.err};
  std::istringstream lines(exported.out);
  for (std::string line; std::getline(lines, line);) {
    Row row = value_from_text<Row>(line).value();
    result.rows[row.kernel] = row;
  }
  return result;
}

TEST(Plugin, IsMeasuredAndVerifiedBesideOurKernels) {
  const Ran ran = run_kernels("mla_dense, plugin:libnaive_mla.so");
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  ASSERT_EQ(ran.rows.size(), 2u) << ran.err;
  const Row& ours = ran.rows.at("mla_dense");
  const Row& theirs = ran.rows.at("plugin:libnaive_mla.so");
  EXPECT_EQ(theirs.status, Status::ok) << theirs.reason;
  EXPECT_GT(theirs.time_us.value(), 0);
  EXPECT_LE(theirs.error_vs_reference.value(), 1);
  EXPECT_EQ(theirs.flops, ours.flops);
  EXPECT_NE(theirs.config.find("naive_mla"), std::string::npos);
}

TEST(Plugin, ThatLiesCrashesOrIsMissingCostsItsOwnPointsOnly) {
  const Ran ran = run_kernels(
      "plugin:liblies.so, plugin:libcrashes.so, plugin:libwrong_abi.so, plugin:libnot_there.so, "
      "mla_dense");
  EXPECT_EQ(ran.exit_status, 1) << "failed rows";
  ASSERT_EQ(ran.rows.size(), 5u) << ran.err;
  const Row& lies = ran.rows.at("plugin:liblies.so");
  EXPECT_EQ(lies.status, Status::failed);
  EXPECT_NE(lies.reason.find("the reference has"), std::string::npos) << lies.reason;
  EXPECT_FALSE(lies.time_us) << "wrong results are not timed";
  const Row& crashes = ran.rows.at("plugin:libcrashes.so");
  EXPECT_EQ(crashes.status, Status::failed);
  EXPECT_NE(crashes.reason.find("signal 11"), std::string::npos) << crashes.reason;
  for (const char* name : {"plugin:libwrong_abi.so", "plugin:libnot_there.so"}) {
    EXPECT_EQ(ran.rows.at(name).status, Status::skipped) << name;
    EXPECT_NE(ran.rows.at(name).reason, "") << name;
  }
  EXPECT_EQ(ran.rows.at("mla_dense").status, Status::ok) << ran.rows.at("mla_dense").reason;
}

}  // namespace
}  // namespace headsplit::e2e

// The sweeps of the attention table, of the crossover and of sparse attention, small enough for a
// CPU, as a user has them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "core/json.h"
#include "tests/e2e/command.h"

namespace headsplit::e2e {
namespace {

Finished run_sweep(const Scratch& scratch, const std::string& name, const std::string& database) {
  const char* root = std::getenv("HEADSPLIT_SOURCE");
  const std::string sweep = std::string(root == nullptr ? "." : root) + "/configs/sweeps/" + name;
  return run(scratch, {program("headsplit"), "run", sweep, "--db", database, "--backend", "cpu"});
}

TEST(AttentionTable, EndsARunOfSeveralStructures) {
  const Scratch scratch;
  const Finished ran = run_sweep(scratch, "attention-table-cpu.yaml", scratch.path("rows.db"));
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  const std::size_t table = ran.out.find("Arithmetic intensity by structure.");
  ASSERT_NE(table, std::string::npos) << ran.out;
  for (const char* structure : {"MHA", "GQA", "MQA", "MLA"}) {
    EXPECT_NE(ran.out.find(structure, table), std::string::npos) << ran.out;
  }
}

TEST(Crossover, IsReadFromTheRowsOfItsSweep) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const Finished ran = run_sweep(scratch, "crossover-cpu.yaml", database);
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  const Finished told =
      run(scratch, {program("headsplit"), "crossover", "--db", database, "--json"});
  ASSERT_EQ(told.exit_status, 0) << told.err;
  const auto groups = parse_json(told.out).value();
  ASSERT_EQ(groups.as_array().size(), 1u);
  const auto& lines = groups.as_array()[0].at("lines").as_array();
  ASSERT_EQ(lines.size(), 2u) << "tp 16 and 32";
  for (const auto& line : lines) {
    EXPECT_TRUE(line.at("kept").is_object()) << told.out;
    EXPECT_TRUE(line.at("anew").is_object()) << told.out;
    EXPECT_EQ(line.at("lacking").as_string(), "") << told.out;
    EXPECT_EQ(line.at("times").as_array().size(), 4u) << told.out;
    EXPECT_EQ(line.at("roofs_from").as_string(), "measured") << told.out;
  }
}

TEST(SparseAttention, RunsAsASweepLikeAnyKernel) {
  const Scratch scratch;
  const std::string database = scratch.path("rows.db");
  const Finished ran = run_sweep(scratch, "sparse-cpu.yaml", database);
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  const Finished told =
      run(scratch, {program("headsplit"), "export", "--db", database, "--format", "jsonl"});
  ASSERT_EQ(told.exit_status, 0) << told.err;
  std::istringstream lines(told.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const auto row = parse_json(line).value();
    EXPECT_EQ(row.at("status").as_string(), "ok") << line;
    EXPECT_LE(row.at("error_vs_reference").to_number<double>(), 1.0) << line;
    EXPECT_TRUE(row.at("top_k") == 128 || row.at("top_k") == 256) << line;
  }
  EXPECT_EQ(rows, 16);
}

}  // namespace
}  // namespace headsplit::e2e

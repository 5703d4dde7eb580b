#include "cli/compare.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "coordinator/answers/row_file.h"
#include "core/json.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

std::string run_file(int run) {
  return std::string(std::getenv("HEADSPLIT_SOURCE")) + "/evidence/h200/tp-erosion-60-run" +
         std::to_string(run) + ".jsonl";
}

Answer compare(const std::string& options) { return run_verb(add_compare, "compare " + options); }

std::string both_runs() { return "--db " + run_file(1) + " --db " + run_file(2); }

std::string short_run(int run) {
  return std::string(std::getenv("HEADSPLIT_SOURCE")) + "/evidence/h200/aa-short-run" +
         std::to_string(run) + ".jsonl.gz";
}

/// That run with all its times made 3 % longer.
std::string slowed(const std::string& run) {
  const std::string path = testing::TempDir() + "/slowed.jsonl";
  std::ofstream out(path);
  auto rows = coordinator::read_row_file(run);
  for (Row& row : rows.value()) {
    *row.time_us *= 1.03;
    for (double& sample : row.samples_us) sample *= 1.03;
    out << json_text(row) << "\n";
  }
  return path;
}

struct Caught {
  int long_points = 0;  ///< of 50 us and more
  int slower = 0;       ///< of those
};

Caught caught_of(const std::string& options) {
  const Answer answer = compare("--json " + options);
  EXPECT_EQ(answer.code, 1);
  const auto parsed = parse_json(answer.out);
  Caught caught;
  for (const json::value& point : parsed.value().at("points").as_array()) {
    if (point.at("a_us").to_number<double>() < 50) continue;
    ++caught.long_points;
    caught.slower += point.at("change").as_string() == "slower" ? 1 : 0;
  }
  return caught;
}

TEST(CompareVerb, FindsNoPointOf504SlowerInTwoRunsOfOneBuildOnAnH200) {
  const Answer answer = compare("--db " + short_run(1) + " --db " + short_run(2));
  EXPECT_EQ(answer.code, 0) << answer.out;
  EXPECT_NE(answer.out.find("504 points: "), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find(" 0 slower, "), std::string::npos) << answer.out;
}

TEST(CompareVerb, CatchesAPlantedSlowDownOfThreePercentOnRealSamples) {
  const Caught caught = caught_of("--db " + short_run(1) + " --db " + slowed(short_run(2)));
  EXPECT_EQ(caught.long_points, 198);
  EXPECT_GE(caught.slower, caught.long_points * 95 / 100);
}

TEST(CompareVerb, FindsTheSameInASingleRepeatOfAQuietGpu) {
  const Answer answer = compare(both_runs());
  EXPECT_EQ(answer.code, 0) << answer.out;
  EXPECT_NE(answer.out.find(" 0 faster, 0 slower, "), std::string::npos) << answer.out;
  const Caught caught = caught_of("--db " + run_file(1) + " --db " + slowed(run_file(2)));
  EXPECT_GT(caught.long_points, 30);
  EXPECT_GE(caught.slower, caught.long_points * 95 / 100);
}

TEST(CompareVerb, WritesAReportForContinuousIntegration) {
  const std::string path = testing::TempDir() + "/compare.xml";
  EXPECT_EQ(compare(both_runs() + " --format junit --out " + path).code, 0);
  std::ifstream file(path);
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
  std::getline(file, first);
  EXPECT_EQ(first,
            "<testsuite name=\"headsplit compare\" tests=\"60\" failures=\"0\" errors=\"0\" "
            "skipped=\"4\">");
}

TEST(CompareVerb, NeedsTwoSides) {
  EXPECT_EQ(compare("--db " + run_file(1)).code, 2);
  EXPECT_NE(compare("--db " + run_file(1)).err.find("needs two sides"), std::string::npos);
  EXPECT_EQ(compare("--db " + run_file(1) + " --sweep agree --sweep agree").code, 0);
  const Answer absent = compare("--db " + run_file(1) + " --sweep agree --sweep other");
  EXPECT_EQ(absent.code, 2);
  EXPECT_NE(absent.err.find("no sweep 'other'; there are: agree"), std::string::npos);
}

TEST(CompareVerb, NamesTheLegalFormsOfALimit) {
  const Answer answer = compare(both_runs() + " --fail-over much");
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("--fail-over: 'much'; legal: 3% or 0.03, from 0 to 100 %"),
            std::string::npos)
      << answer.err;
  EXPECT_EQ(compare(both_runs() + " --fail-over 3%").code, 0);
  EXPECT_EQ(compare(both_runs() + " --noise-floor 0.02").code, 0);
}

}  // namespace
}  // namespace headsplit::cli

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/json.h"
#include "tests/e2e/command.h"

namespace headsplit::e2e {
namespace {

std::string source_file(const std::string& name) {
  const char* root = std::getenv("HEADSPLIT_SOURCE");
  return (root == nullptr ? std::string(".") : std::string(root)) + "/" + name;
}

TEST(Plan, ListsEveryPointOfTheErosionSweepWithItsRankProblem) {
  const Scratch scratch;
  const Finished planned = run(scratch, {program("headsplit"), "plan",
                                         source_file("configs/sweeps/tp-erosion.yaml"), "--json"});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const auto points = parse_json(planned.out).value();
  ASSERT_GT(points.as_array().size(), 60u);
  bool tp8_seen = false;
  for (const auto& planned_point : points.as_array()) {
    const auto& problem = planned_point.at("problem");
    const auto& layout = planned_point.at("point").at("layout");
    EXPECT_EQ(problem.at("local_heads").as_int64() * layout.at("tp").as_int64(), 128);
    EXPECT_FALSE(planned_point.at("id").as_string().empty());
    tp8_seen = tp8_seen || layout.at("tp").as_int64() == 8;
  }
  EXPECT_TRUE(tp8_seen);
}

TEST(Plan, KeepsPointsThatDoNotFitAsSkippedWithTheBytes) {
  const Scratch scratch;
  const Finished planned =
      run(scratch, {program("headsplit"), "plan", source_file("configs/sweeps/tp-erosion.yaml"),
                    "--json", "--memory-gb", "1"});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  std::size_t skipped = 0;
  const auto points = parse_json(planned.out).value();
  for (const auto& point : points.as_array()) {
    if (point.at("state").as_string() != "skipped") continue;
    ++skipped;
    EXPECT_NE(point.at("reason").as_string().find("bytes"), json::string::npos);
  }
  EXPECT_GT(skipped, 0u);
  EXPECT_LT(skipped, points.as_array().size());
}

}  // namespace
}  // namespace headsplit::e2e

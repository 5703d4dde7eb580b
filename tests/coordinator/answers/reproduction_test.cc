#include "coordinator/answers/reproduction.h"

#include <gtest/gtest.h>

#include "coordinator/plan.h"
#include "tests/coordinator/answers/made_row.h"

namespace headsplit::coordinator {
namespace {

constexpr const char* kSweep =
    "name: s\n"
    "model: kimi-k2\n"
    "tp: [1, 4]\n"
    "axes: {batch: [8], context: [1K, 4K], kv_dtype: [bf16, fp8], lengths: [ragged]}\n"
    "exclude: [{tp: 4, kv_dtype: fp8}]\n"
    "measure: {min_time_ms: 77, repeats: 2, counters: false}\n"
    "seed: 9\n";

Sweep sweep() { return sweep_from_yaml(kSweep, "s.yaml").value(); }

Row row_of_planned(const PlannedPoint& planned) {
  Row row = row_of(planned.point);
  row.sweep = "s";
  row.build = "b1";
  row.backend = "cuda";
  row.seed = 9;
  row.status = Status::ok;
  return row;
}

std::vector<Row> rows_of_sweep() {
  std::vector<Row> rows;
  const Plan plan = make_plan(sweep(), std::nullopt).value();
  for (const PlannedPoint& planned : plan.points) rows.push_back(row_of_planned(planned));
  return rows;
}

/// The point of a reproduction that has an id.
std::optional<PlannedPoint> planned_again(const Reproduction& reproduction) {
  const Plan plan =
      make_plan(sweep_from_yaml(reproduction.yaml, reproduction.file).value(), {}).value();
  EXPECT_EQ(plan.seed, 9u);
  for (const PlannedPoint& planned : plan.points) {
    if (planned.id == reproduction.point_id) return planned;
  }
  return std::nullopt;
}

TEST(Reproduction, PlansTheVeryPointOfEveryRowOfASweepAsItWasMeasured) {
  const Plan plan = make_plan(sweep(), std::nullopt).value();
  ASSERT_EQ(plan.points.size(), 12u);
  for (const PlannedPoint& planned : plan.points) {
    const auto reproduction = reproduce(row_of_planned(planned), sweep());
    ASSERT_TRUE(reproduction) << reproduction.error().message;
    const auto again = planned_again(reproduction.value());
    ASSERT_TRUE(again) << reproduction.value().yaml;
    EXPECT_EQ(again->problem, planned.problem);
    EXPECT_EQ(again->measure.min_time_ms, 77);
    EXPECT_FALSE(again->measure.counters);
  }
}

TEST(Reproduction, SaysWhenTheMeasuringSettingsAreNotKnown) {
  const auto reproduction = reproduce(rows_of_sweep().front(), std::nullopt);
  ASSERT_TRUE(reproduction) << reproduction.error().message;
  EXPECT_TRUE(planned_again(reproduction.value()));
  EXPECT_EQ(reproduction.value().facts.back(),
            "measuring settings: the defaults; the row does not say");
}

TEST(Reproduction, IsAScript) {
  Row row = rows_of_sweep().front();
  row.device = "GPU\nX";
  const Reproduction reproduction = coordinator::reproduce(row, sweep()).value();
  const std::string file = "reproduce-" + row.point_id;
  const std::string text = reproduction_text(reproduction);
  EXPECT_TRUE(text.starts_with("# row " + row.point_id + " of sweep s\n# device GPU X\n")) << text;
  EXPECT_NE(text.find("\n# build b1: git checkout b1 && ./dev build\n"), std::string::npos) << text;
  EXPECT_TRUE(
      text.ends_with("END\nheadsplit run " + file + ".yaml --db " + file + ".db --backend cuda\n"))
      << text;
}

TEST(Reproduction, PutsNothingOfARowIntoTheCommandThatIsNotKnown) {
  Row row = rows_of_sweep().front();
  row.backend = "cuda; rm file";
  EXPECT_TRUE(reproduce(row, sweep()).value().command.ends_with(" --backend auto"));
  row.point_id = "$(rm file)";
  EXPECT_FALSE(reproduce(row, sweep()));
}

TEST(Reproduction, RefusesARowWhosePointThisVersionDoesNotPlan) {
  Row row = rows_of_sweep().front();
  row.point_id = "0000000000000000";
  const auto reproduction = reproduce(row, sweep());
  ASSERT_FALSE(reproduction);
  EXPECT_EQ(reproduction.error().message,
            "row 0000000000000000: this version plans no such point; use build b1");
}

TEST(Reproduction, FindsTheNewestRowByTheBeginningOfItsId) {
  std::vector<Row> rows = {made_row("ab12", 1), made_row("ab12", 2), made_row("cd34", 3)};
  rows[1].started_unix_s = 5;
  EXPECT_EQ(find_row(rows, "ab").value().time_us, 2);
  EXPECT_EQ(find_row(rows, "ef").error().message, "no row of point 'ef'");
  rows.push_back(made_row("ab56", 4));
  EXPECT_EQ(find_row(rows, "ab").error().message, "'ab' begins several points: ab12, ab56");
}

}  // namespace
}  // namespace headsplit::coordinator

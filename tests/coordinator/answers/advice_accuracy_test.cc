#include <gtest/gtest.h>

#include <cstdlib>

#include "coordinator/answers/row_file.h"
#include "core/stats.h"
#include "tp/held_out.h"

namespace headsplit::coordinator {
namespace {

std::vector<Row> h200_rows(const std::string& name) {
  return read_row_file(std::string(std::getenv("HEADSPLIT_SOURCE")) + "/evidence/h200/" + name +
                       ".jsonl.gz")
      .value();
}

/// What a model made of a 14 s sweep misses of the sweep that it has not seen.
std::vector<double> errors_of(const std::string& held_out_rows) {
  const tp::Model model = tp::read_model("deepseek-v3").value();
  const auto quick = h200_rows("quick");
  tp::Device device = tp::read_device("h200").value();
  device = tp::with_ceilings(device, tp::ceilings_of_rows(quick, device));
  const tp::TimeModel times(device, model, quick);
  std::vector<double> errors;
  for (const auto& one :
       tp::held_out(times, tp::measurements(device, model, h200_rows(held_out_rows)))) {
    errors.push_back(one.error());
  }
  return errors;
}

TEST(AdviceAccuracy, OfAQuickSweepOnAnH200HoldsForThePointsOfTheFullOne) {
  for (const char* rows : {"tp-erosion", "reference"}) {
    const auto errors = errors_of(rows);
    EXPECT_GT(errors.size(), 300u) << rows;
    EXPECT_LE(quantile(errors, 0.5), 0.10) << rows;
    EXPECT_LE(errors.front(), 0.25) << rows << ": the worst";
  }
}

TEST(RowFile, ReadsCompressedLinesAndSaysWhereTheyBreakOff) {
  EXPECT_EQ(h200_rows("quick").size(), 432u);
  const auto absent = read_row_file("/none/such.jsonl.gz");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message, "/none/such.jsonl.gz: cannot be read");
}

}  // namespace
}  // namespace headsplit::coordinator

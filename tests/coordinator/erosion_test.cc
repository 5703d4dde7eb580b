#include "coordinator/erosion.h"

#include <gtest/gtest.h>

#include <sstream>

#include "coordinator/export.h"

namespace headsplit::coordinator {
namespace {

Row row_at(const std::string& layout, double time_us, int repeat = 0) {
  const Layout parsed = layout_from_name(layout).value();
  Row row = row_of(Point{.layout = parsed, .batch = 4, .context = 4096, .repeat = repeat});
  row.sweep = "quick";
  row.device = "Test CPU";
  row.backend = "cpu";
  row.local_heads = 128 / parsed.tp;
  row.status = Status::ok;
  row.time_us = time_us;
  row.time_p10_us = time_us * 0.9;
  row.time_p90_us = time_us * 1.2;
  row.flops = 1e9 / parsed.ranks();
  row.hbm_bytes_model = 2e7;
  row.intensity_model = *row.flops / *row.hbm_bytes_model;
  return row;
}

Row failed_at(const std::string& layout, Status status, const std::string& reason) {
  Row row = row_at(layout, 1);
  row.status = status;
  row.reason = reason;
  row.time_us.reset();
  row.device.clear();
  return row;
}

TEST(Erosion, ComparesEveryLayoutWithOneRankAlone) {
  const std::vector<Row> rows = {row_at("tp1", 1000), row_at("tp4", 500)};
  const auto cells = erosion(rows);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(json_text(cells[0].lines),
            R"([{"layout":"tp1","tp":1,"dp":1,"cp":1,"rank_count":1,"local_heads":128,)"
            R"("status":"ok","reason":"","repeats_ok":1,"repeats":1,"resumed":false,)"
            R"("time_us":1E3,"time_p10_us":9E2,"time_p90_us":1.2E3,"speedup":1E0,)"
            R"("efficiency":1E0,"intensity_flop_per_byte":5E1,"intensity_source":"model",)"
            R"("reuse_retained":1E0,"kv_duplication":1,"gbps":2E1,"gflops":1E3,)"
            R"("limiter":"unknown","intensity_model_flop_per_byte":5E1,"dram_bytes":null,)"
            R"("hbm_bytes_model":2E7,"time_model_us":null,"time_roofline_us":null,)"
            R"("roofline_fraction":null,"throttled":0},)"
            R"({"layout":"tp4","tp":4,"dp":1,"cp":1,"rank_count":4,"local_heads":32,)"
            R"("status":"ok","reason":"","repeats_ok":1,"repeats":1,"resumed":false,)"
            R"("time_us":5E2,"time_p10_us":4.5E2,"time_p90_us":6E2,"speedup":2E0,)"
            R"("efficiency":5E-1,"intensity_flop_per_byte":1.25E1,"intensity_source":"model",)"
            R"("reuse_retained":2.5E-1,"kv_duplication":4,"gbps":4E1,"gflops":5E2,)"
            R"("limiter":"unknown","intensity_model_flop_per_byte":1.25E1,"dram_bytes":null,)"
            R"("hbm_bytes_model":2E7,"time_model_us":null,"time_roofline_us":null,)"
            R"("roofline_fraction":null,"throttled":0}])");
}

TEST(Erosion, TakesTheMedianOfRepeatsAndTheQuantilesOfTheirSamples) {
  std::vector<Row> rows = {row_at("tp1", 100, 0), row_at("tp1", 300, 1), row_at("tp1", 110, 2)};
  rows[0].samples_us = {100, 100, 100, 100};
  rows[1].samples_us = {300, 300};
  rows[2].samples_us = {110, 110, 110, 110, 110};
  const ErosionLine line = erosion(rows).at(0).lines.at(0);
  EXPECT_EQ(line.repeats, 3);
  EXPECT_EQ(line.time_us, 110);
  EXPECT_EQ(line.time_p10_us, 100);
  EXPECT_EQ(line.time_p90_us, 300);
}

TEST(Erosion, PrefersMeasuredIntensityAndComparesLikeWithLike) {
  std::vector<Row> rows = {row_at("tp1", 100), row_at("tp2", 100)};
  rows[0].intensity_measured = 40;
  ErosionLine split = erosion(rows).at(0).lines.at(1);
  EXPECT_EQ(split.intensity_source, Provenance::model);
  EXPECT_EQ(split.reuse_retained, 0.5) << "model against model";
  rows[1].intensity_measured = 30;
  split = erosion(rows).at(0).lines.at(1);
  EXPECT_EQ(split.intensity_source, Provenance::measured);
  EXPECT_EQ(split.intensity_flop_per_byte, 30);
  EXPECT_EQ(split.reuse_retained, 0.75);
}

TEST(Erosion, KeepsWhatWentWrongInItsPlaceWithTheReason) {
  const std::vector<Row> rows = {row_at("tp1", 100), failed_at("tp2", Status::failed, "crashed"),
                                 failed_at("tp4", Status::skipped, "needs 9 bytes")};
  const auto cells = erosion(rows);
  ASSERT_EQ(cells.at(0).lines.size(), 3u);
  EXPECT_EQ(cells[0].lines[1].status, Status::failed);
  EXPECT_EQ(cells[0].lines[1].time_us, std::nullopt);
  EXPECT_EQ(
      erosion_notes(cells),
      (std::vector<std::string>{"mla_dense tp2 B=4 T=1 L=4096 bf16: failed: crashed",
                                "mla_dense tp4 B=4 T=1 L=4096 bf16: skipped: needs 9 bytes"}));
}

TEST(Erosion, CountsRepeatsThatWentWrong) {
  std::vector<Row> rows = {row_at("tp1", 100), failed_at("tp1", Status::failed, "crashed")};
  const auto cells = erosion(rows);
  EXPECT_EQ(cells.at(0).lines.at(0).status, Status::ok);
  EXPECT_EQ(erosion_notes(cells),
            (std::vector<std::string>{
                "mla_dense tp1 B=4 T=1 L=4096 bf16: 1 of 2 repeats not ok: crashed"}));
}

TEST(Erosion, HasNoSpeedUpWithoutOneRankAlone) {
  const std::vector<Row> rows = {row_at("tp2", 100)};
  EXPECT_EQ(erosion(rows).at(0).lines.at(0).speedup, std::nullopt);
  EXPECT_EQ(erosion(rows).at(0).lines.at(0).reuse_retained, std::nullopt);
}

TEST(Erosion, IsATableOfAlignedColumns) {
  std::vector<Row> rows = {row_at("tp1", 1234.5), row_at("tp8", 617.25),
                           failed_at("tp4xdp2", Status::failed, "crashed")};
  rows[1].resumed = true;
  rows.push_back(row_at("tp1", 99));
  rows.back().context = 1024;
  EXPECT_EQ(
      erosion_text(erosion(rows)),
      "quick: deepseek-v3 mla_dense bf16, L2 cold, lengths equal, ranks emulated; on Test CPU "
      "(cpu); per rank and layer\n"
      "\n"
      "batch  query tokens  context  layout   local heads  time us   p10-p90 us  speed-up  "
      "TP efficiency  intensity  from   reuse retained  KV duplication   GB/s  GFLOP/s\n"
      "    4             1     4096  tp1              128     1234    1111-1481      1.00  "
      "       100.0%      50.00  model          100.0%              1x  16.20    810.0\n"
      "    4             1     4096  tp8*              16    617.2  555.5-740.7      2.00  "
      "        25.0%      6.250  model           12.5%              8x  32.40    202.5\n"
      "    4             1     4096  tp4xdp2           32   failed            -         -  "
      "            -          -  -                   -              4x      -        -\n"
      "\n"
      "    4             1     1024  tp1              128    99.00  89.10-118.8      1.00  "
      "       100.0%      50.00  model          100.0%              1x  202.0    10101\n"
      "\n"
      "* kept from an earlier run of the sweep\n");
}

TEST(Erosion, KeepsFixedSplitsApart) {
  Row fixed = row_at("tp1", 1100);
  fixed.fixed_splits = 4;
  const auto cells = erosion(std::vector<Row>{row_at("tp1", 1000), fixed});
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[1].fixed_splits, 4);
  EXPECT_NE(erosion_text(cells).find(", splits fixed at 4; on Test CPU"), std::string::npos);
}

TEST(Erosion, CountsCopiesOfTheCacheByWhatEachRankKeeps) {
  const auto duplication = [](const std::string& kernel, double kv_bytes_of_tp4) {
    std::vector<Row> rows = {row_at("tp1", 1000), row_at("tp4", 500)};
    for (Row& row : rows) row.kernel = kernel;
    rows[0].kv_bytes_model = 8e6;
    rows[1].kv_bytes_model = kv_bytes_of_tp4;
    return erosion(rows)[0].lines[1].kv_duplication;
  };
  EXPECT_EQ(duplication("mla_dense", 8e6), 4);
  EXPECT_EQ(duplication("mha_decode", 2e6), 1);
  EXPECT_EQ(duplication("gqa_decode", 2e6), 1) << "4 groups or more";
  EXPECT_EQ(duplication("gqa_decode", 4e6), 2) << "2 groups: two ranks share each";
  Row unlike = row_at("tp4", 500);
  unlike.kernel = "gqa_decode";
  EXPECT_EQ(erosion(std::vector<Row>{unlike})[0].lines[0].kv_duplication, std::nullopt);
}

TEST(Erosion, OfNoRowsIsNothing) {
  EXPECT_TRUE(erosion({}).empty());
  EXPECT_EQ(erosion_text({}), "");
}

TEST(Export, CsvHasAColumnForEveryMemberOfARow) {
  Row row = row_at("tp2", 12.5);
  row.reason = "said \"no\", twice\nand left";
  row.samples_us = {12, 13};
  std::ostringstream out;
  export_rows(out, std::vector<Row>{row}, ExportFormat::csv);
  const std::string text = out.str();
  const std::string heading = text.substr(0, text.find('\n'));
  EXPECT_EQ(static_cast<std::size_t>(std::count(heading.begin(), heading.end(), ',') + 1),
            to_json(row).get_object().size());
  for (const char* column : {"status", "model", "layout", "time_us", "time_p10_us", "flops",
                             "hbm_bytes_model", "intensity_measured", "limiter", "resumed"}) {
    EXPECT_NE(("," + heading + ",").find(str(",", column, ",")), std::string::npos) << column;
  }
  EXPECT_NE(text.find(",\"said \"\"no\"\", twice\nand left\","), std::string::npos);
  EXPECT_NE(text.find(",\"[1.2E1,1.3E1]\","), std::string::npos);
  EXPECT_NE(text.find(",12.5,"), std::string::npos);
}

TEST(Export, JsonLinesComeBackAsTheSameRows) {
  const std::vector<Row> rows = {row_at("tp1", 1), failed_at("tp2", Status::failed, "x")};
  std::ostringstream out;
  export_rows(out, rows, ExportFormat::jsonl);
  std::istringstream lines(out.str());
  std::string line;
  for (const Row& row : rows) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(value_from_text<Row>(line).value(), row);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

}  // namespace
}  // namespace headsplit::coordinator

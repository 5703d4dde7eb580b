#include "coordinator/attention_table.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

struct Made {
  std::string kernel;
  int tp = 1;
  double model = 1;
  std::optional<double> measured;
};

Row row_of_structure(const Made& made) {
  const Layout layout{.tp = made.tp};
  Row row = row_of(Point{.kernel = made.kernel, .layout = layout, .batch = 64, .context = 16384});
  row.sweep = "attention-table";
  row.device = "GPU X";
  row.local_heads = 128 / made.tp;
  row.status = Status::ok;
  row.time_us = 100;
  row.hbm_bytes_model = 4e8;
  row.intensity_model = made.model;
  row.intensity_measured = made.measured;
  return row;
}

std::vector<AttentionLine> lines_of(const std::vector<Made>& all) {
  std::vector<Row> rows;
  for (const Made& made : all) rows.push_back(row_of_structure(made));
  return attention_table(erosion(rows));
}

TEST(AttentionTable, PutsTheSeedsFigureBesideFormulaAndCounters) {
  const auto lines = lines_of({{"mla_dense", 1, 238, 237},
                               {"mqa_decode", 1, 127, 126},
                               {"gqa_decode", 1, 15.98, 16},
                               {"mha_decode", 1, 0.9999, std::nullopt}});
  ASSERT_EQ(lines.size(), 4u);
  const std::vector<std::string> wanted = {"MHA", "GQA", "MQA", "MLA"};
  const std::vector<double> limits = {1, 16, 128, 256};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].structure, wanted[i]);
    EXPECT_EQ(lines[i].intensity_limit_flop_per_byte, limits[i]);
  }
  EXPECT_EQ(lines[0].intensity_measured_flop_per_byte, std::nullopt);
  EXPECT_EQ(lines[0].measured_over_model, std::nullopt) << "a model beside itself says nothing";
  EXPECT_DOUBLE_EQ(*lines[3].measured_over_model, 237.0 / 238);
  EXPECT_DOUBLE_EQ(*lines[3].gbps, 4e3);
}

TEST(AttentionTable, ShowsWhichStructuresKeepTheirReuseUnderHeadSplits) {
  const auto lines = lines_of({{"mha_decode", 1, 1, 1.01},
                               {"mha_decode", 8, 1, 1.01},
                               {"gqa_decode", 1, 16, 16},
                               {"gqa_decode", 8, 16, 16},
                               {"gqa_decode", 16, 8, 8},
                               {"mla_dense", 1, 240, 240},
                               {"mla_dense", 8, 30, 30}});
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[1].local_kv_heads, 16);
  EXPECT_EQ(lines[1].intensity_limit_flop_per_byte, 1);
  EXPECT_EQ(lines[1].reuse_retained, 1);
  EXPECT_EQ(lines[3].local_kv_heads, 1);
  EXPECT_EQ(lines[3].intensity_limit_flop_per_byte, 16);
  EXPECT_EQ(lines[4].intensity_limit_flop_per_byte, 8) << "two ranks share a KV head";
  EXPECT_EQ(lines[4].reuse_retained, 0.5);
  EXPECT_EQ(lines[6].intensity_limit_flop_per_byte, 32);
  EXPECT_EQ(lines[6].reuse_retained, 0.125);
}

TEST(AttentionTable, IsEmptyWhereOneStructureWasRun) {
  EXPECT_TRUE(lines_of({{"mla_dense", 1, 240, 240}, {"mla_dense", 8, 30, 30}}).empty());
  EXPECT_TRUE(lines_of({{"mla_dense", 1, 240, 240}, {"kv_expand", 1, 90, 90}}).empty());
}

}  // namespace
}  // namespace headsplit::coordinator

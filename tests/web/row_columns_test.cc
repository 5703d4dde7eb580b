#include "coordinator/web/row_columns.h"

#include <gtest/gtest.h>

#include "coordinator/web/row_model.h"

namespace headsplit::coordinator {
namespace {

Row row_of_layout(int tp, const std::string& layout) {
  Point point;
  point.layout = {tp, 1, 1};
  Row row = headsplit::row_of(point);
  row.status = Status::ok;
  row.layout = layout;
  row.device = "NVIDIA H200";
  return row;
}

json::object columns(std::vector<Row> rows) {
  std::vector<std::optional<double>> times(rows.size());
  return columns_of(rows, times);
}

TEST(RowColumns, WriteAFieldThatNeverChangesOnce) {
  const auto reply = columns({row_of_layout(1, "tp1"), row_of_layout(2, "tp2")});
  EXPECT_EQ(reply.at("count"), json::value(2));
  EXPECT_EQ(json::serialize(reply.at("columns").at("status")), R"({"all":"ok"})");
  EXPECT_EQ(json::serialize(reply.at("columns").at("tp")), R"({"values":[1,2]})");
}

TEST(RowColumns, WriteEachTextOnce) {
  const auto reply =
      columns({row_of_layout(1, "tp1"), row_of_layout(2, "tp2"), row_of_layout(1, "tp1")});
  EXPECT_EQ(json::serialize(reply.at("columns").at("layout")),
            R"({"words":["tp1","tp2"],"index":[0,1,0]})");
}

TEST(RowColumns, KeepSevenDigitsAndWhatIsAbsent) {
  Row timed = row_of_layout(1, "tp1");
  timed.time_us = 123.456789012;
  timed.flops = 9876543210987;
  timed.gbps = 0.00123456789;
  const auto reply = columns({timed, row_of_layout(2, "tp2")});
  EXPECT_EQ(json::serialize(reply.at("columns").at("time_us")), R"({"values":[1.234568E2,null]})");
  EXPECT_EQ(json::serialize(reply.at("columns").at("flops")), R"({"values":[9.876543E12,null]})");
  EXPECT_EQ(json::serialize(reply.at("columns").at("gbps")), R"({"values":[1.234568E-3,null]})");
}

TEST(RowColumns, LeaveOutSamplesAndRawCounters) {
  const auto reply = columns({row_of_layout(1, "tp1")});
  EXPECT_EQ(reply.at("columns").as_object().if_contains("samples_us"), nullptr);
  EXPECT_EQ(reply.at("columns").as_object().if_contains("counters"), nullptr);
  EXPECT_NE(reply.at("columns").as_object().if_contains("point_id"), nullptr);
}

TEST(RowColumns, OfNoRowsAreEmpty) {
  const auto reply = columns({});
  EXPECT_EQ(reply.at("count"), json::value(0));
  EXPECT_EQ(json::serialize(reply.at("columns").at("tp")), R"({"values":[]})");
  EXPECT_EQ(json::serialize(reply.at("columns").at("layout")), R"({"words":[],"index":[]})");
}

TEST(RowModel, TimesAPointByTheRooflineOfItsDevice) {
  Row row = row_of_layout(8, "tp8");
  row.batch = 128;
  row.context = 65536;
  // 128 requests x 65536 tokens x 1152 bytes and 16 heads of queries and outputs, at 4800 GB/s.
  const double bytes = 128.0 * 65536 * 1152 + 128.0 * 16 * 1088 * 2;
  const auto time_us = RowModel().time_us(row);
  ASSERT_TRUE(time_us);
  EXPECT_NEAR(*time_us, bytes / 4800e3, 1e-6 * *time_us);
}

TEST(RowModel, KnowsNoRoofOfADeviceThatNobodyDescribed) {
  Row row = row_of_layout(1, "tp1");
  row.device = "a CPU of some kind";
  EXPECT_FALSE(RowModel().time_us(row));
  EXPECT_TRUE(RowModel().roofs_of(row.device).empty());
  const auto roofs = RowModel().roofs_of("NVIDIA H200");
  ASSERT_EQ(roofs.size(), 1u);
  EXPECT_EQ(roofs[0].gbps, 4800);
  EXPECT_EQ(roofs[0].source, "data sheet");
}

}  // namespace
}  // namespace headsplit::coordinator

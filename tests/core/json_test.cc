#include "core/json.h"

#include <gtest/gtest.h>

#include "core/row.h"

namespace headsplit {
namespace {

TEST(Json, WritesAbsentFiguresAsNullAndNeverAsZero) {
  Row row;
  EXPECT_TRUE(to_json(row).at("dram_bytes_read").is_null());
  row.time_us = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(to_json(row).at("time_us").is_null());
}

TEST(Json, ReadsBackWhatItWrote) {
  Row row = row_of(Point{.layout = {.tp = 4, .dp = 2}, .batch = 7});
  row.time_us = 12.5;
  row.samples_us = {12.25, 12.5, 13};
  row.status = Status::ok;
  row.seed = 0xFFFFFFFFFFFFFFFFull;
  row.counters["dram__bytes_read.sum"] = 1024;
  EXPECT_EQ(value_from_text<Row>(json_text(row)).value(), row);
}

TEST(Json, KeepsDefaultsForMissingKeysAndIgnoresUnknownOnes) {
  const auto point = value_from_text<Point>(R"({"batch": 3, "from_the_future": [1, 2]})").value();
  EXPECT_EQ(point, (Point{.batch = 3}));
}

TEST(Json, NamesThePathOfAFieldOfTheWrongType) {
  const auto point = value_from_text<Point>(R"({"layout": {"tp": "four"}})");
  EXPECT_EQ(point.error().message, "layout.tp: expected an integer in range");
}

TEST(Json, RefusesNumbersThatDoNotFit) {
  EXPECT_FALSE(value_from_text<Point>(R"({"batch": 99999999999})"));
  EXPECT_FALSE(value_from_text<Point>(R"({"batch": 1.5})"));
}

TEST(Json, NamesTheLegalValuesOfAnEnum) {
  const auto point = value_from_text<Point>(R"({"kv_dtype": "int4"})");
  EXPECT_EQ(point.error().message, "kv_dtype: 'int4' is not one of: bf16, fp8, fp8_tensor");
}

TEST(Json, SaysWhereTextStopsBeingJson) {
  EXPECT_FALSE(parse_json("{\"a\": }"));
  EXPECT_FALSE(parse_json("{} extra"));
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json(std::string(1000, '[')));
}

}  // namespace
}  // namespace headsplit

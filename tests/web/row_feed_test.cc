#include "coordinator/web/row_feed.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

Row row_named(const std::string& point) {
  Row row;
  row.point_id = point;
  row.samples_us = {1, 2, 3};
  return row;
}

TEST(RowFeed, GivesWhatCameAfterANumberInOrder) {
  RowFeed feed;
  for (const char* point : {"a", "b", "c"}) feed.add("s", row_named(point));
  const auto news = feed.after(1, 10);
  ASSERT_TRUE(news);
  ASSERT_EQ(news->size(), 2u);
  EXPECT_EQ((*news)[0]->row.point_id, "b");
  EXPECT_EQ((*news)[1]->number, 3u);
  EXPECT_TRUE((*news)[0]->row.samples_us.empty());
}

TEST(RowFeed, GivesALongAbsenceInPortions) {
  RowFeed feed;
  for (int i = 0; i < 10; ++i) feed.add("s", row_named("p"));
  EXPECT_EQ(feed.after(0, 4)->back()->number, 4u);
  EXPECT_EQ(feed.after(4, 4)->back()->number, 8u);
  EXPECT_TRUE(feed.after(10, 4)->empty());
  EXPECT_TRUE(feed.after(99, 4)->empty());
}

TEST(RowFeed, SaysWhenSomethingWasMissed) {
  RowFeed feed;
  for (std::size_t i = 0; i < RowFeed::kKept + 5; ++i) feed.add("s", row_named("p"));
  EXPECT_FALSE(feed.after(0, 10));
  EXPECT_FALSE(feed.after(4, 10));
  EXPECT_TRUE(feed.after(5, 10));
}

}  // namespace
}  // namespace headsplit::coordinator

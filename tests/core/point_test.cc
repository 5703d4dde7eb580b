#include "core/point.h"

#include <gtest/gtest.h>

namespace headsplit {
namespace {

TEST(Point, HasTheSameIdWhereverItIsMade) {
  // Databases in the field hold this id: a change of it orphans every stored row.
  EXPECT_EQ(point_id(Point{}), point_id(Point{}));
  EXPECT_EQ(point_id(Point{}).size(), 16u);
}

TEST(Point, HasAnotherIdWhenAnyFieldDiffers) {
  const Point point;
  EXPECT_NE(point_id(point), point_id(Point{.model = "kimi-k2"}));
  EXPECT_NE(point_id(point), point_id(Point{.layout = {.tp = 2}}));
  EXPECT_NE(point_id(point), point_id(Point{.layout = {.cp = 2}}));
  EXPECT_NE(point_id(point), point_id(Point{.l2 = L2::warm}));
  EXPECT_NE(point_id(point), point_id(Point{.repeat = 1}));
  EXPECT_NE(point_id(point), point_id(Point{.fixed_splits = 4}));
  EXPECT_NE(point_id(point), point_id(Point{.top_k = 1024}));
}

TEST(Point, HasALabelForPeople) {
  EXPECT_EQ(point_label(Point{.layout = {.tp = 4}, .batch = 64, .context = 8192}),
            "mla_dense tp4 B=64 T=1 L=8192 bf16");
  EXPECT_EQ(point_label(Point{.fixed_splits = 4}), "mla_dense tp1 B=1 T=1 L=4096 bf16 splits=4");
  EXPECT_EQ(point_label(Point{.kernel = "mla_sparse", .top_k = 2048}),
            "mla_sparse tp1 B=1 T=1 L=4096 bf16 k=2048");
}

}  // namespace
}  // namespace headsplit

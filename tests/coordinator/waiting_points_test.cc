#include "coordinator/waiting_points.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "coordinator/point_positions.h"

namespace headsplit::coordinator {
namespace {

using Places = std::vector<std::pair<std::size_t, std::size_t>>;  // failures, position

Places places_of(const WaitingPoints& points) {
  Places found;
  for (auto place = points.first(); place; place = points.after(*place)) {
    found.emplace_back(place->failures, place->at);
  }
  return found;
}

TEST(WaitingPoints, ComeInPlanOrderBehindThoseThatFailedLess) {
  WaitingPoints points(200);
  for (const std::size_t at : {199, 0, 64, 63}) points.add(at, 0);
  points.add(1, 2);
  points.add(150, 1);
  EXPECT_EQ(places_of(points), (Places{{0, 0}, {0, 63}, {0, 64}, {0, 199}, {1, 150}, {2, 1}}));
  points.remove(0, 0);
  points.add(0, 1);
  EXPECT_EQ(places_of(points), (Places{{0, 63}, {0, 64}, {0, 199}, {1, 0}, {1, 150}, {2, 1}}));
}

TEST(WaitingPoints, GoOnBehindAPointThatWaitsNoMore) {
  WaitingPoints points(100);
  for (const std::size_t at : {3, 5, 70}) points.add(at, 0);
  const auto first = points.first();
  points.remove(3, 0);
  EXPECT_EQ(points.after(*first)->at, 5u);
  points.remove(5, 0);
  points.remove(70, 0);
  EXPECT_TRUE(points.empty());
  EXPECT_FALSE(points.first());
}

TEST(WaitingPoints, AreWhatASetOfPairsWouldBe) {
  std::mt19937 random(7);
  WaitingPoints points(300);
  std::set<std::pair<std::size_t, std::size_t>> same;
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t at = random() % 300;
    const std::size_t failures = random() % 3;
    if (same.erase({failures, at}) > 0) {
      points.remove(at, failures);
    } else {
      points.add(at, failures);
      same.insert({failures, at});
    }
    if (step % 100 == 0) {
      ASSERT_EQ(places_of(points), Places(same.begin(), same.end())) << step;
    }
  }
}

TEST(PointPositions, FindEachPointOfAPlanAndNoOther) {
  std::vector<PlannedPoint> points(1000);
  for (std::size_t at = 0; at < points.size(); ++at) points[at].id = str("point-", at);
  const PointPositions positions(points);
  for (std::size_t at = 0; at < points.size(); ++at) {
    EXPECT_EQ(positions.find(points[at].id), at);
  }
  EXPECT_EQ(positions.find("point-1000"), std::nullopt);
  EXPECT_EQ(positions.find(""), std::nullopt);
}

}  // namespace
}  // namespace headsplit::coordinator

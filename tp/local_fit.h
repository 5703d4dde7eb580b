#pragma once

#include <array>
#include <optional>
#include <vector>

namespace headsplit::tp {

/// Coordinates of a point in shape space: base-2 logarithms of batch, context, packed rows (local
/// heads x query tokens) and, with half the weight, query tokens: a doubling is one step.
using ShapePlace = std::array<double, 4>;

double squared_distance(const ShapePlace& left, const ShapePlace& right);

/// A value known at one place.
struct PlacedValue {
  ShapePlace place{};
  double value = 0;
};

constexpr std::size_t kNeighbours = 8;

/// Indices of the nearest known places, the nearest first; all when there are fewer.
/// without: index of one that does not count.
std::vector<std::size_t> nearest_places(const std::vector<PlacedValue>& known, const ShapePlace& at,
                                        std::size_t neighbours = kNeighbours,
                                        std::optional<std::size_t> without = std::nullopt);

/// Value at `at` of the plane that fits the nearest known ones best: least squares over the
/// `neighbours` nearest, weighted by 1 / (squared distance + 1/4), slopes damped so that few points
/// give their mean.  0 when nothing is known.  without: as in nearest_places.
double local_fit(const std::vector<PlacedValue>& known, const ShapePlace& at,
                 std::size_t neighbours = kNeighbours,
                 std::optional<std::size_t> without = std::nullopt);

}  // namespace headsplit::tp

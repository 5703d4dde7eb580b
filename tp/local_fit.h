#pragma once

#include <array>
#include <vector>

namespace headsplit::tp {

/// Coordinates of a point in shape space: base-2 logarithms of batch, context, local heads and
/// query tokens, so that a doubling of any is one step.
using ShapePlace = std::array<double, 4>;

double squared_distance(const ShapePlace& left, const ShapePlace& right);

/// A value known at one place.
struct PlacedValue {
  ShapePlace place{};
  double value = 0;
};

/// Value at `at` of the plane that fits the nearest known ones best: least squares over the
/// `neighbours` nearest, weighted by 1 / (squared distance + 1/4), slopes damped so that few points
/// give their mean.  0 when nothing is known.
double local_fit(const std::vector<PlacedValue>& known, const ShapePlace& at,
                 std::size_t neighbours = 8);

}  // namespace headsplit::tp

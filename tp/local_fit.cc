#include "tp/local_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headsplit::tp {
namespace {

constexpr std::size_t kUnknowns = 5;  // the value, and a slope for each coordinate
using Row = std::array<double, kUnknowns + 1>;
using Equations = std::array<Row, kUnknowns>;

/// First unknown of linear equations, the right side in the last column.  Partial pivoting.
double solve_first(Equations& m) {
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < kUnknowns; ++r) {
      if (std::abs(m[r][i]) > std::abs(m[pivot][i])) pivot = r;
    }
    std::swap(m[i], m[pivot]);
    for (std::size_t r = 0; r < kUnknowns; ++r) {
      if (r == i) continue;
      const double factor = m[r][i] / m[i][i];
      for (std::size_t c = i; c <= kUnknowns; ++c) m[r][c] -= factor * m[i][c];
    }
  }
  return m[0][kUnknowns] / m[0][0];
}

}  // namespace

double squared_distance(const ShapePlace& left, const ShapePlace& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += (left[i] - right[i]) * (left[i] - right[i]);
  return sum;
}

std::vector<std::size_t> nearest_places(const std::vector<PlacedValue>& known, const ShapePlace& at,
                                        std::size_t neighbours,
                                        std::optional<std::size_t> without) {
  std::vector<std::pair<double, std::size_t>> near;
  near.reserve(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i != without) near.emplace_back(squared_distance(known[i].place, at), i);
  }
  const auto end = near.begin() + static_cast<std::ptrdiff_t>(std::min(neighbours, near.size()));
  std::partial_sort(near.begin(), end, near.end());
  std::vector<std::size_t> indices;
  for (auto one = near.begin(); one != end; ++one) indices.push_back(one->second);
  return indices;
}

double local_fit(const std::vector<PlacedValue>& known, const ShapePlace& at,
                 std::size_t neighbours, std::optional<std::size_t> without) {
  constexpr double kDamping = 0.05;
  const auto near = nearest_places(known, at, neighbours, without);
  if (near.empty()) return 0;
  Equations m{};
  double weights = 0;
  for (const std::size_t index : near) {
    const PlacedValue* point = &known[index];
    const double weight = 1 / (squared_distance(point->place, at) + 0.25);
    std::array<double, kUnknowns> x{1};
    for (std::size_t i = 0; i < at.size(); ++i) x[i + 1] = point->place[i] - at[i];
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      for (std::size_t j = 0; j < kUnknowns; ++j) m[i][j] += weight * x[i] * x[j];
      m[i][kUnknowns] += weight * x[i] * point->value;
    }
    weights += weight;
  }
  for (std::size_t i = 1; i < kUnknowns; ++i) m[i][i] += kDamping * weights;
  return solve_first(m);
}

}  // namespace headsplit::tp

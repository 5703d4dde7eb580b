#include "coordinator/point_positions.h"

#include <bit>
#include <functional>

#include "core/check.h"

namespace headsplit::coordinator {

PointPositions::PointPositions(const std::vector<PlannedPoint>& points)
    : points_(&points), slots_(std::bit_ceil(2 * points.size() + 1), kNone) {
  CHECK(points.size() < kNone);
  for (std::size_t at = 0; at < points.size(); ++at) {
    std::uint32_t& slot = slots_[slot_of(points[at].id)];
    if (slot == kNone) slot = static_cast<std::uint32_t>(at);
  }
}

std::size_t PointPositions::slot_of(const std::string& id) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t at = std::hash<std::string>()(id) & last;
  while (slots_[at] != kNone && (*points_)[slots_[at]].id != id) at = (at + 1) & last;
  return at;
}

std::optional<std::size_t> PointPositions::find(const std::string& id) const {
  const std::uint32_t position = slots_[slot_of(id)];
  if (position == kNone) return std::nullopt;
  return position;
}

}  // namespace headsplit::coordinator

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/plan.h"

namespace headsplit::coordinator {

/// Where a point stands in a plan, by its id: a hash table of positions, without the ids, which the
/// plan has.  About eight bytes a point.
class PointPositions {
 public:
  /// points: outlive this, and do not change.
  explicit PointPositions(const std::vector<PlannedPoint>& points);

  std::optional<std::size_t> find(const std::string& id) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// The slot of that id, or the free one where it would be.
  std::size_t slot_of(const std::string& id) const;

  const std::vector<PlannedPoint>* points_;
  std::vector<std::uint32_t> slots_;  ///< a power of two of them, at most half of them taken
};

}  // namespace headsplit::coordinator

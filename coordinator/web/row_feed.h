#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// The rows stored lately, numbered from 1, for those who follow a sweep live.  Bounded: whoever
/// falls too far behind reads all rows anew.
class RowFeed {
 public:
  static constexpr std::size_t kKept = 2000;

  struct Item {
    std::uint64_t number = 0;
    std::string sweep;  ///< plan id
    Row row;            ///< without its samples and counters
  };

  void add(const std::string& sweep, Row row);

  /// Number of the latest; 0 when there was none.
  std::uint64_t latest() const { return latest_; }

  /// Items after that number, oldest first, `most` at most; nothing when one of them is gone.
  std::optional<std::vector<const Item*>> after(std::uint64_t number, std::size_t most) const;

 private:
  std::deque<Item> items_;
  std::uint64_t latest_ = 0;
};

}  // namespace headsplit::coordinator

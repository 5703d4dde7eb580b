#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace headsplit::coordinator {

/// The points of a sweep that wait, those with fewest failures first, then in plan order.  A bit a
/// point: a sweep may have a million.
class WaitingPoints {
 public:
  explicit WaitingPoints(std::size_t points) : points_(points) {}

  void add(std::size_t at, std::size_t failures);
  void remove(std::size_t at, std::size_t failures);
  bool empty() const { return levels_.empty(); }

  struct Place {
    std::size_t failures = 0;
    std::size_t at = 0;
  };
  std::optional<Place> first() const { return from({0, 0}); }
  /// The one behind it; its own point need not wait any more.
  std::optional<Place> after(Place place) const { return from({place.failures, place.at + 1}); }

 private:
  using Word = std::uint64_t;
  static constexpr std::size_t kBits = 64;
  struct Level {
    std::vector<Word> words;
    std::size_t count = 0;
    std::size_t first = 0;  ///< no word before this one has a bit
  };
  std::optional<Place> from(Place place) const;

  std::size_t points_;
  std::map<std::size_t, Level> levels_;  ///< by failures; none is empty
};

}  // namespace headsplit::coordinator

#include "coordinator/waiting_points.h"

#include <algorithm>
#include <bit>

#include "core/check.h"

namespace headsplit::coordinator {

void WaitingPoints::add(std::size_t at, std::size_t failures) {
  CHECK(at < points_);
  Level& level = levels_[failures];
  if (level.words.empty()) level.words.resize((points_ + kBits - 1) / kBits);
  Word& word = level.words[at / kBits];
  const Word bit = Word{1} << (at % kBits);
  if ((word & bit) != 0) return;
  word |= bit;
  level.first = level.count == 0 ? at / kBits : std::min(level.first, at / kBits);
  ++level.count;
}

void WaitingPoints::remove(std::size_t at, std::size_t failures) {
  const auto found = levels_.find(failures);
  CHECK(found != levels_.end());
  Level& level = found->second;
  Word& word = level.words[at / kBits];
  const Word bit = Word{1} << (at % kBits);
  CHECK((word & bit) != 0);
  word &= ~bit;
  if (--level.count == 0) {
    levels_.erase(found);
    return;
  }
  while (level.words[level.first] == 0) ++level.first;
}

std::optional<WaitingPoints::Place> WaitingPoints::from(Place place) const {
  for (auto level = levels_.lower_bound(place.failures); level != levels_.end(); ++level) {
    const auto& [failures, found] = *level;
    const std::size_t start = failures == place.failures ? place.at : 0;
    Word mask = ~Word{0} << (start % kBits);
    for (std::size_t i = start / kBits; i < found.words.size(); ++i, mask = ~Word{0}) {
      if (i < found.first) {
        i = found.first;
        mask = ~Word{0};
      }
      const Word word = found.words[i] & mask;
      if (word != 0) {
        return Place{failures, i * kBits + static_cast<std::size_t>(std::countr_zero(word))};
      }
    }
  }
  return std::nullopt;
}

}  // namespace headsplit::coordinator

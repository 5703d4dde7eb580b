#include "coordinator/answers/turn.h"

#include <cmath>
#include <iterator>

#include "core/check.h"

namespace headsplit::coordinator {
namespace {

using Entry = Advantages::const_iterator;

/// Where a straight line between two neighbours on logarithmic scales passes 0.
double between(Entry before, Entry after) {
  const double part = before->second / (before->second - after->second);
  return before->first * std::pow(after->first / before->first, part);
}

Turn turn_of_all(const Advantages& advantages, Turns turns) {
  return {.turns = turns, .low = advantages.begin()->first, .high = advantages.rbegin()->first};
}

Turn turn_between(Entry before, Entry after) {
  return {
      .turns = Turns::at, .at = between(before, after), .low = before->first, .high = after->first};
}

}  // namespace

Turn first_turn(const Advantages& advantages) {
  CHECK(!advantages.empty());
  auto faster = advantages.begin();
  while (faster != advantages.end() && faster->second > 0) ++faster;
  if (faster == advantages.end()) return turn_of_all(advantages, Turns::never);
  Turn turn = faster == advantages.begin() ? turn_of_all(advantages, Turns::always)
                                           : turn_between(std::prev(faster), faster);
  for (auto later = std::next(faster); later != advantages.end(); ++later) {
    if (later->second > 0 && !turn.slower_again) turn.slower_again = later->first;
  }
  return turn;
}

Turn lasting_turn(const Advantages& advantages) {
  CHECK(!advantages.empty());
  auto stays = advantages.end();
  while (stays != advantages.begin() && std::prev(stays)->second < 0) --stays;
  if (stays == advantages.begin()) return turn_of_all(advantages, Turns::always);
  if (stays == advantages.end()) return turn_of_all(advantages, Turns::never);
  return turn_between(std::prev(stays), stays);
}

}  // namespace headsplit::coordinator

#include <cmath>
#include <limits>
#include <map>

#include "coordinator/answers/case_list.h"
#include "coordinator/answers/turn.h"

namespace headsplit::coordinator {
namespace {

/// Both sides at one value of the axis.
struct Place {
  const Repeats* from = nullptr;
  const Repeats* to = nullptr;
};

/// log(time of `to` / time of `from`); below 0 where `to` is faster.
double advantage(const Judge& judge, const Place& place) {
  return std::log(*place.to->figure(*judge.of) / *place.from->figure(*judge.of));
}

/// By value of the axis; only where both sides have a time.
std::map<double, Place> places_of(const Judge& judge, const std::vector<const Repeats*>& group) {
  std::map<double, Place> places;
  for (const Repeats* one : group) {
    if (!one->figure(*judge.of)) continue;
    Place& place = places[std::stod(axis_text(one->first(), judge.along))];
    const std::string value = axis_text(one->first(), judge.vary);
    if (value == judge.from) place.from = one;
    if (value == judge.to.front()) place.to = one;
  }
  std::erase_if(places, [](const auto& entry) {
    return entry.second.from == nullptr || entry.second.to == nullptr;
  });
  return places;
}

/// Where `to` begins to be faster; infinite where it always is, or never.
double crossing_of(const Judge& judge, const std::map<double, Place>& places) {
  Advantages advantages;
  for (const auto& [value, place] : places) advantages[value] = advantage(judge, place);
  const Turn turn = first_turn(advantages);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  return turn.at.value_or(turn.turns == Turns::always ? -kNever : kNever);
}

/// Whether a series from `first` to `last` is long enough to say on which side of the accepted
/// range a crossing lies that it does not contain.
bool tells(const Range& accept, double figure, double first, double last) {
  if (!std::isinf(figure)) return true;
  if (figure < 0) return std::isinf(accept.low) ? first <= accept.high : first <= accept.low;
  return std::isinf(accept.high) ? last >= accept.low : last >= accept.high;
}

}  // namespace

std::vector<Case> crossing_cases(const Judge& judge, std::span<const Repeats> measured) {
  std::vector<Case> cases;
  const std::string axes[] = {judge.vary, judge.along};
  for (const auto& group : groups_without(measured, axes)) {
    const std::map<double, Place> places = places_of(judge, group);
    if (places.size() < 2) continue;
    const double figure = crossing_of(judge, places);
    if (!tells(judge.accept, figure, places.begin()->first, places.rbegin()->first)) continue;
    std::vector<const Repeats*> rows;
    for (const auto& [value, place] : places) {
      rows.push_back(place.from);
      rows.push_back(place.to);
    }
    cases.push_back({figure, ids_of(rows)});
  }
  return cases;
}

}  // namespace headsplit::coordinator

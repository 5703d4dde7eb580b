#include <algorithm>
#include <charconv>

#include "coordinator/answers/case_list.h"

namespace headsplit::coordinator {
namespace {

const Repeats* with(const std::vector<const Repeats*>& group, const std::string& axis,
                    const std::string& value) {
  const auto found = std::find_if(group.begin(), group.end(), [&](const Repeats* one) {
    return axis_text(one->first(), axis) == value;
  });
  return found == group.end() ? nullptr : *found;
}

/// What the claim says becomes of a figure from one value of an axis to another.
double expected_ratio(const Judge& judge, const std::string& to) {
  if (judge.expected == Expected::equal) return 1;
  const double ratio = std::stod(to) / std::stod(judge.from);
  return judge.expected == Expected::proportional ? ratio : 1 / ratio;
}

}  // namespace

std::vector<Case> ratio_cases(const Judge& judge, std::span<const Repeats> measured) {
  std::vector<Case> cases;
  const std::string axes[] = {judge.vary};
  for (const auto& group : groups_without(measured, axes)) {
    const Repeats* from = with(group, judge.vary, judge.from);
    for (const std::string& value : judge.to) {
      const Repeats* to = with(group, judge.vary, value);
      if (from == nullptr || to == nullptr) continue;
      const auto below = from->figure(*judge.of);
      const auto above = to->figure(*judge.of);
      if (!above || !below || *below == 0) continue;
      const Repeats* const pair[] = {from, to};
      cases.push_back({*above / *below / expected_ratio(judge, value), ids_of(pair)});
    }
  }
  return cases;
}

std::vector<Case> spread_cases(const Judge& judge, std::span<const Repeats> measured) {
  std::vector<Case> cases;
  for (const auto& group : groups_without(measured, judge.across)) {
    std::vector<const Repeats*> with_figure;
    double least = 0;
    double most = 0;
    for (const Repeats* one : group) {
      const auto value = one->figure(*judge.of);
      if (!value) continue;
      least = with_figure.empty() ? *value : std::min(least, *value);
      most = with_figure.empty() ? *value : std::max(most, *value);
      with_figure.push_back(one);
    }
    if (static_cast<int>(with_figure.size()) < judge.least_entries || least <= 0) continue;
    cases.push_back({most / least, ids_of(with_figure)});
  }
  return cases;
}

}  // namespace headsplit::coordinator

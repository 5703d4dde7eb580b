#include <algorithm>

#include "coordinator/answers/case_list.h"

namespace headsplit::coordinator {
namespace {

double heads_x_tokens(const Repeats* one) {
  return static_cast<double>(one->first().local_heads) * one->first().query_tokens;
}

}  // namespace

/// Where the flat time of the smallest problem meets the line through zero of the largest.
std::vector<Case> knee_cases(const Judge& judge, std::span<const Repeats> measured) {
  std::vector<Case> cases;
  const std::string axes[] = {"tp", "query_tokens"};
  for (auto& group : groups_without(measured, axes)) {
    const auto by_size = [](const Repeats* a, const Repeats* b) {
      return heads_x_tokens(a) < heads_x_tokens(b);
    };
    const Repeats* flat = *std::min_element(group.begin(), group.end(), by_size);
    const Repeats* linear = *std::max_element(group.begin(), group.end(), by_size);
    const auto flat_us = flat->figure(*judge.of);
    const auto linear_us = linear->figure(*judge.of);
    if (heads_x_tokens(flat) > kKneeFlatMost || heads_x_tokens(linear) < kKneeLinearLeast) continue;
    if (!flat_us || !linear_us) continue;
    const Repeats* const ends[] = {flat, linear};
    cases.push_back({*flat_us / (*linear_us / heads_x_tokens(linear)), ids_of(ends)});
  }
  return cases;
}

}  // namespace headsplit::coordinator

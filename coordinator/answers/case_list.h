#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/answers/claim.h"
#include "coordinator/answers/row_key.h"

namespace headsplit::coordinator {

/// One figure that speaks of a claim, and the rows it is made of.
struct Case {
  double figure = 0;              ///< +inf: a crossing that never comes; -inf: one below the series
  std::vector<std::string> rows;  ///< point ids
};

/// The cases of a judge among the ok rows that it selects.
std::vector<Case> cases_of(const Judge& judge, std::span<const Repeats> measured);

std::vector<Case> ratio_cases(const Judge& judge, std::span<const Repeats> measured);
std::vector<Case> spread_cases(const Judge& judge, std::span<const Repeats> measured);
std::vector<Case> knee_cases(const Judge& judge, std::span<const Repeats> measured);
std::vector<Case> crossing_cases(const Judge& judge, std::span<const Repeats> measured);

/// Point ids of all rows of some measurements.
std::vector<std::string> ids_of(std::span<const Repeats* const> measured);

/// Measurements that differ in the named axes only, each group in order of appearance.
std::vector<std::vector<const Repeats*>> groups_without(std::span<const Repeats> measured,
                                                        std::span<const std::string> axes);

}  // namespace headsplit::coordinator

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/plan.h"

/// What the promises are tested with: seeded runs of a simulation (simulation.h).
namespace headsplit::coordinator {

/// The plans that the promises are tested on: two sweeps of points for one agent, and one of gangs.
std::vector<std::shared_ptr<const Plan>> simulated_plans();

/// Runs one schedule.  Gives "P4: what (entry n)" for each broken promise.
std::vector<std::string> broken_by_schedule(std::uint64_t seed,
                                            const std::vector<std::shared_ptr<const Plan>>& plans,
                                            int& crashes, int& grants);

}  // namespace headsplit::coordinator

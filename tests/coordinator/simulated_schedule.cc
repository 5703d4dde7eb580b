#include "tests/coordinator/simulated_schedule.h"

#include "tests/coordinator/simulation.h"

namespace headsplit::coordinator {
namespace {

constexpr int kChaosSteps = 150;

}  // namespace

std::vector<std::shared_ptr<const Plan>> simulated_plans() {
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const char* text :
       {"name: first\ntp: [1, 2, 4, 8]\naxes: {batch: [1, 2]}\n"
        "limits: {attempts: 2, point_timeout_s: 2}",
        "name: second\ntp: [1, 2]\nlimits: {point_timeout_s: 2}",
        "name: gangs\nranks: real\nlayouts: [{tp: 2}, {dp: 3}]\naxes: {batch: 6}\n"
        "limits: {attempts: 4, point_timeout_s: 2}"}) {
    const Sweep sweep = sweep_from_yaml(text, "s.yaml").value();
    plans.push_back(std::make_shared<const Plan>(make_plan(sweep, std::nullopt).value()));
  }
  return plans;
}

std::vector<std::string> broken_by_schedule(std::uint64_t seed,
                                            const std::vector<std::shared_ptr<const Plan>>& plans,
                                            int& crashes, int& grants) {
  Simulation simulation(seed, plans);
  simulation.run(kChaosSteps);
  crashes += simulation.crashes();
  grants += simulation.grants();
  std::vector<std::string> broken;
  for (const auto& [promise, what] : broken_promises(simulation.history())) {
    broken.push_back(promise + ": " + what);
  }
  return broken;
}

}  // namespace headsplit::coordinator

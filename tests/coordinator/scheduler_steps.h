#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/scheduler.h"

namespace headsplit::coordinator {

inline std::shared_ptr<const Plan> plan_of(const std::string& text) {
  const Sweep sweep = sweep_from_yaml(text, "s.yaml").value();
  return std::make_shared<const Plan>(make_plan(sweep, std::nullopt).value());
}

/// A scheduler, a clock, a plan, and the actions of the latest step.
class SchedulerSteps {
 public:
  void step(const Event& event) { actions = scheduler.step(event, now); }

  /// The actions of a kind.
  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const Action& action : actions) {
      if (const T* match = std::get_if<T>(&action)) found.push_back(*match);
    }
    return found;
  }

  Scheduler scheduler{{.silence_limit_s = 10, .deadline_grace_s = 5, .gang_patience_s = 30}};
  TimePoint now{std::chrono::hours(1)};
  std::shared_ptr<const Plan> plan;
  std::vector<Action> actions;
};

}  // namespace headsplit::coordinator

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace headsplit::coordinator {

/// How fast something happens lately, from the moments it happened.
class RateMeter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void count(TimePoint when);

  /// Events a second over the latest ones, up to `now`: falls while nothing happens.  0 before the
  /// second event.
  double per_s(TimePoint now) const;

 private:
  std::deque<TimePoint> latest_;
};

/// What one peer may send: `per_s` on the average, and `burst` at once.
class Allowance {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Allowance(double per_s, double burst) : per_s_(per_s), burst_(burst), left_(burst) {}
  /// Takes one; false when there is none just now.
  bool take(TimePoint now);

 private:
  double per_s_;
  double burst_;
  double left_;
  TimePoint filled_{};
};

}  // namespace headsplit::coordinator

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

}  // namespace headsplit::coordinator

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace headsplit::kernels {

/// Memory given back to the driver, which clears it in the background: kernels that run meanwhile
/// lose about an eighth of the memory's bandwidth, and its writes are in their counters.  Seen on
/// an H200 (docs/measuring.md): 320 to 350 GB/s, in order, from the call on.
class FreedMemory {
 public:
  using Clock = std::chrono::steady_clock;

  void add(std::size_t bytes, Clock::time_point now) {
    const std::chrono::duration<double> needed(static_cast<double>(bytes) / kBytesPerS);
    cleared_ = std::max(cleared_, now) + std::chrono::duration_cast<Clock::duration>(needed);
  }
  /// When all of it has been cleared; in the past when there is none.
  Clock::time_point cleared() const { return cleared_; }

 private:
  static constexpr double kBytesPerS = 300e9;
  Clock::time_point cleared_{};
};

}  // namespace headsplit::kernels

#pragma once

#include <chrono>

namespace headsplit::coordinator {

/// Seconds since 1970: for people and metrics, never for deadlines.
inline double unix_now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace headsplit::coordinator

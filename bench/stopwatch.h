#pragma once

#include <chrono>

namespace headsplit::bench {

/// Seconds that `body` takes, by the steady clock.
template <class Body>
double seconds_of(Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace headsplit::bench

#include "coordinator/memory.h"

#include <array>
#include <cstdio>

#include "core/rank_memory.h"

namespace headsplit::coordinator {

std::int64_t rank_memory_bytes(const RankProblem& problem, int fixed_splits) {
  const double rows = 1.0 * problem.batch * problem.query_tokens * problem.local_heads;
  const double partials = 4.0 * rows * fixed_splits * (problem.output_width() + 1);
  return static_cast<std::int64_t>(memory_bytes(problem) + partials);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", value, kUnits[unit]);
  return text.data();
}

}  // namespace headsplit::coordinator

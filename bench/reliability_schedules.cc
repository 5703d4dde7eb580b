#include <cstdio>
#include <cstdlib>

#include "bench/reliability.h"
#include "bench/stopwatch.h"
#include "tests/coordinator/simulated_schedule.h"

namespace headsplit::bench {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

Result<bool> schedules() {
  const std::uint64_t first = number_from_environment("HEADSPLIT_SEED", 1);
  const std::uint64_t count = number_from_environment("HEADSPLIT_SCHEDULES", 10'000);
  const auto plans = coordinator::simulated_plans();
  int crashes = 0;
  int grants = 0;
  std::uint64_t broken = 0;
  const Stopwatch watch;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    for (const auto& what : coordinator::broken_by_schedule(seed, plans, crashes, grants)) {
      if (++broken <= 10) {
        std::printf("HEADSPLIT_SEED=%llu: %s\n", static_cast<unsigned long long>(seed),
                    what.c_str());
      }
    }
  }
  return tell(broken == 0,
              str(count, " schedules (", grants, " leases, ", crashes,
                  " starts of the coordinator): ", broken, " violations; ", watch.seconds(), " s"));
}

}  // namespace headsplit::bench

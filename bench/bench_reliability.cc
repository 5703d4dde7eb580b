// What docs/reliability.md promises in figures: simulated schedules, a thousand agents, recovery
// after kill -9, and what a scan with wrong tokens gets.  Real processes on loopback, a real disk.
// bench_reliability [schedules] [agents] [recovery] [scan]

#include "bench/reliability.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace headsplit::bench {

bool tell(bool reached, const std::string& what) {
  std::printf("%-7s %s\n", reached ? "reached" : "MISSED", what.c_str());
  std::fflush(stdout);
  return reached;
}

namespace {

bool part(const char* name, Result<bool> (*run)()) {
  std::printf("-- %s\n", name);
  std::fflush(stdout);
  const Result<bool> reached = run();
  if (!reached) std::printf("FAILED  %s\n", reached.error().message.c_str());
  return reached && *reached;
}

int run_all(int argc, char** argv) {
  const auto wanted = [&](const char* name) {
    return argc < 2 || std::any_of(argv + 1, argv + argc,
                                   [&](const char* word) { return std::string(word) == name; });
  };
  bool good = true;
  if (wanted("schedules")) good = part("schedules", schedules) && good;
  if (wanted("agents")) good = part("agents", thousand_agents) && good;
  if (wanted("recovery")) good = part("recovery", recovery) && good;
  if (wanted("scan")) good = part("scan", scan) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) { return headsplit::bench::run_all(argc, argv); }

// How long a gang takes from the lease to the go: one real `headsplit run` with eight agents.

#include <algorithm>
#include <cstdio>
#include <string>

#include "bench/swept_rows.h"
#include "core/exit_code.h"
#include "core/stats.h"

namespace headsplit {
namespace {

constexpr double kStartMaxMs = 20;

/// Small problems: a rank's own preparation is part of the start.
constexpr const char* kSweep =
    "name: gangs\n"
    "model: deepseek-v3\n"
    "ranks: real\n"
    "layouts: [{tp: 8}, {cp: 8}, {tp: 4, cp: 2}, {tp: 2, cp: 4}]\n"
    "axes: {batch: 1, context: [64, 65, 66, 67, 68], l2: warm}\n"
    "measure: {min_time_ms: 1, max_noise: 0.9, max_time_ms: 20}\n";

ExitCode report(const std::vector<Row>& rows, bool as_json) {
  std::vector<double> starts_ms;
  for (const Row& row : rows) {
    if (row.status == Status::ok && row.gang_start_us) {
      starts_ms.push_back(*row.gang_start_us * 1e-3);
    }
  }
  if (starts_ms.size() != rows.size()) {
    std::fprintf(stderr, "bench_gangs: %zu of %zu gangs ended well\n", starts_ms.size(),
                 rows.size());
    return ExitCode::failed;
  }
  const double median_ms = quantile(starts_ms, 0.5);
  const auto [least, most] = std::minmax_element(starts_ms.begin(), starts_ms.end());
  const bool reached = median_ms < kStartMaxMs;
  if (as_json) {
    const json::object figures = {{"gangs", rows.size()},
                                  {"start_median_ms", median_ms},
                                  {"start_min_ms", *least},
                                  {"start_max_ms", *most}};
    std::printf("%s\n", json::serialize(figures).c_str());
  } else {
    std::printf(
        "%zu gangs of 8 agents, lease to go: %.1f ms (median; %.1f to %.1f; target under "
        "%.0f: %s)\n",
        rows.size(), median_ms, *least, *most, kStartMaxMs, reached ? "reached" : "MISSED");
  }
  return reached ? ExitCode::ok : ExitCode::failed;
}

}  // namespace
}  // namespace headsplit

int main(int argc, char** argv) {
  using namespace headsplit;
  const auto rows = swept_rows(kSweep, {"--agents", "8"});
  if (!rows) {
    std::fprintf(stderr, "bench_gangs: %s\n", rows.error().message.c_str());
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(report(rows.value(), argc > 1 && std::string(argv[1]) == "--json"));
}

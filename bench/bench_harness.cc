// What the harness costs beside the kernels: one real `headsplit run` of points whose launches take
// tens of milliseconds, and where its wall time went.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/swept_rows.h"
#include "core/exit_code.h"

namespace headsplit {
namespace {

constexpr double kOverheadMax = 0.05;
constexpr double kKernelSecondsMin = 0.05;  ///< of a point that counts

constexpr const char* kSweep =
    "name: harness\n"
    "model: deepseek-v3\n"
    "kernels: [mla_dense]\n"
    "tp: [1, 2, 4, 8]\n"
    "axes: {batch: [4, 8], query_tokens: [1, 2], context: 4K}\n"
    "measure: {l2: warm, min_time_ms: 200, max_noise: 0.05, max_time_ms: 400}\n";

/// Sums over the points that count, in seconds.
struct Spent {
  int points = 0;
  double span_s = 0;      ///< first lease taken to last row sent
  double kernel_s = 0;    ///< inside launches
  double prepare_s = 0;   ///< making inputs
  double verify_s = 0;    ///< against the reference
  double sampling_s = 0;  ///< launches and what lies between them

  /// Neither kernels, nor making and checking their inputs and outputs.
  double overhead() const { return 1 - (sampling_s + prepare_s + verify_s) / span_s; }
};

Spent spent_of(const std::vector<Row>& rows) {
  Spent spent;
  double first = rows.front().started_unix_s;
  double last = 0;
  for (const Row& row : rows) {
    first = std::min(first, row.started_unix_s);
    last = std::max(last, row.started_unix_s + row.wall_s);
    spent.points += row.kernel_s >= kKernelSecondsMin;
    spent.kernel_s += row.kernel_s;
    spent.prepare_s += row.prepare_s;
    spent.verify_s += row.verify_s;
    spent.sampling_s += row.sampling_s;
  }
  spent.span_s = last - first;
  return spent;
}

ExitCode report(const Spent& spent, bool as_json) {
  const bool reached = spent.overhead() <= kOverheadMax;
  if (as_json) {
    const json::object figures = {{"points", spent.points},
                                  {"span_s", spent.span_s},
                                  {"kernel_s", spent.kernel_s},
                                  {"sampling_s", spent.sampling_s},
                                  {"prepare_s", spent.prepare_s},
                                  {"verify_s", spent.verify_s},
                                  {"overhead_ratio", spent.overhead()}};
    std::printf("%s\n", json::serialize(figures).c_str());
  } else {
    std::printf("%d points of 50 ms of kernel time or more: %.2f s from first lease to last row\n",
                spent.points, spent.span_s);
    std::printf("  sampling %.2f s (kernels %.2f s), inputs %.2f s, verification %.2f s\n",
                spent.sampling_s, spent.kernel_s, spent.prepare_s, spent.verify_s);
    std::printf("  harness overhead %.1f %% (target %.0f %%: %s)\n", 100 * spent.overhead(),
                100 * kOverheadMax, reached ? "reached" : "MISSED");
  }
  return reached ? ExitCode::ok : ExitCode::failed;
}

}  // namespace
}  // namespace headsplit

int main(int argc, char** argv) {
  using namespace headsplit;
  const bool as_json = argc > 1 && std::string(argv[1]) == "--json";
  const auto rows = swept_rows(kSweep);
  if (!rows) {
    std::fprintf(stderr, "bench_harness: %s\n", rows.error().message.c_str());
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(report(spent_of(*rows), as_json));
}

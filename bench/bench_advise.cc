// How well `advise --db` knows points that it has not measured: a model corrected by the rows of a
// quick sweep, against the rows of a full one.  Rank problems that are in both do not count.
//   bench_advise [--quick ROWS] [--full ROWS] [--all]      exit 1 when a target is missed
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "coordinator/answers/row_file.h"
#include "core/stats.h"
#include "tp/held_out.h"

namespace headsplit::bench {
namespace {

constexpr double kMedianMost = 0.10;
constexpr double kWorstMost = 0.25;
constexpr std::size_t kWorstShown = 5;

struct Options {
  std::vector<std::string> quick;
  std::vector<std::string> full;
  std::string model = "deepseek-v3";
  std::string device = "h200";
  bool all = false;
};

Result<bool> run(const Options& options) {
  const tp::Model model = TRY(tp::read_model(options.model));
  tp::Device device = TRY(tp::read_device(options.device));
  const auto quick = TRY(coordinator::read_row_files(options.quick));
  const auto full = TRY(coordinator::read_row_files(options.full));
  device = tp::with_ceilings(std::move(device), tp::ceilings_of_rows(quick, device));
  const tp::TimeModel times(device, model, quick);
  const auto held_out = tp::held_out(times, tp::measurements(device, model, full));
  if (held_out.empty()) return fail(ErrorKind::config, "no row of the full sweep is held out");
  std::vector<double> errors;
  for (const auto& one : held_out) errors.push_back(one.error());
  const double median = quantile(errors, 0.5);
  const double worst = errors.front();
  std::printf(
      "%zu problems known, %zu held out: median error %.1f %% (target %.0f), 90 %% of them "
      "within %.1f %%, worst %.1f %% (target %.0f)\n",
      times.row_count(), errors.size(), 100 * median, 100 * kMedianMost,
      100 * quantile(errors, 0.9), 100 * worst, 100 * kWorstMost);
  const auto within = std::count_if(held_out.begin(), held_out.end(), [](const tp::HeldOut& one) {
    return one.error() <= one.expected_error;
  });
  std::printf("%.0f %% of them within the error that the model expected\n",
              100.0 * double(within) / double(held_out.size()));
  const std::size_t shown = options.all ? held_out.size() : std::min(kWorstShown, held_out.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& one = held_out[i];
    std::printf("  %-34s measured %8.1f us, predicted %8.1f us (%+.1f %%, expected %.1f %%): %s\n",
                one.label.c_str(), one.measured_us, one.predicted_us,
                100 * (one.predicted_us / one.measured_us - 1), 100 * one.expected_error,
                one.basis.c_str());
  }
  return median <= kMedianMost && worst <= kWorstMost;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  headsplit::bench::Options options;
  CLI::App app("Accuracy of advice from a quick sweep");
  app.add_option("--quick", options.quick, "Rows that the model may see")->required();
  app.add_option("--full", options.full, "Rows that it is held against")->required();
  app.add_option("--model", options.model);
  app.add_option("--device", options.device);
  app.add_flag("--all", options.all, "Every held-out problem, the worst first");
  CLI11_PARSE(app, argc, argv);
  const auto reached = headsplit::bench::run(options);
  if (!reached) {
    std::fprintf(stderr, "bench_advise: %s\n", reached.error().message.c_str());
    return 2;
  }
  return reached.value() ? 0 : 1;
}

// How long `headsplit report` takes for 100,000 rows, in each of its formats.

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/scratch_folder.h"
#include "bench/stopwatch.h"
#include "core/child_process.h"
#include "core/exit_code.h"
#include "core/row.h"

namespace headsplit {
namespace {

constexpr double kSecondsMax = 5;
constexpr int kRows = 100'000;
constexpr int kSamples = 20;

/// One of many sweeps over the same 672 shapes.
Row row_of_number(int number) {
  constexpr int kHeads[] = {128, 64, 32, 16};
  Row row;
  row.sweep = str("sweep-", number / 672);
  row.point_id = str(number);
  row.status = Status::ok;
  row.model = "deepseek-v3";
  row.kernel = "mla_dense";
  row.backend = "cuda";
  row.device = "NVIDIA H200";
  row.gpu_uuid = "GPU-1";
  row.tp = 1 << number % 4;
  row.layout = str("tp", row.tp);
  row.local_heads = kHeads[number % 4];
  row.batch = row.rank_batch = 1 << number / 4 % 8;
  row.query_tokens = 1 << number / 32 % 3;
  row.context = 1024LL << number / 96 % 7;
  row.rank_context = static_cast<int>(row.context);
  const double time_us = 10 + 1e-5 * static_cast<double>(row.batch) * double(row.context);
  row.time_us = row.time_p10_us = row.time_p90_us = time_us;
  row.flops = 2176.0 * row.batch * row.query_tokens * row.local_heads * double(row.context);
  row.kv_bytes_model = 1152.0 * row.batch * double(row.context);
  row.dram_bytes_read = row.kv_bytes_model;
  row.intensity_model = row.intensity_measured = *row.flops / *row.kv_bytes_model;
  row.samples_us.assign(kSamples, time_us);
  return row;
}

Result<double> seconds_of_report(const std::string& rows, const std::string& format,
                                 const std::string& out) {
  const bench::Stopwatch watch;
  auto report = TRY(ChildProcess::start({.argv = {sibling_program("headsplit"), "report", "--db",
                                                  rows, "--format", format, "--out", out},
                                         .pipe_stdout = true}));
  const auto ending = report.wait(std::chrono::seconds(120));
  if (ending != "exit 0") {
    return fail(ErrorKind::io, "headsplit report: ", ending.value_or("too slow"));
  }
  return watch.seconds();
}

Result<ExitCode> run(bool as_json) {
  const ScratchFolder folder = TRY(ScratchFolder::make());
  const std::string rows = folder / "rows.jsonl";
  std::ofstream out(rows);
  for (int number = 0; number < kRows; ++number) out << json_text(row_of_number(number)) << "\n";
  out.close();
  bool reached = true;
  for (const char* format : {"html", "md", "json", "csv"}) {
    const double seconds = TRY(seconds_of_report(rows, format, folder / "report"));
    reached = reached && seconds < kSecondsMax;
    if (as_json) {
      const json::object line = {{"format", format}, {"rows", kRows}, {"seconds", seconds}};
      std::printf("%s\n", json::serialize(line).c_str());
    } else {
      std::printf("report of %d rows, %-4s: %.1f s (target under %.0f: %s)\n", kRows, format,
                  seconds, kSecondsMax, seconds < kSecondsMax ? "reached" : "MISSED");
    }
  }
  return reached ? ExitCode::ok : ExitCode::failed;
}

}  // namespace
}  // namespace headsplit

int main(int argc, char** argv) {
  using namespace headsplit;
  const auto code = run(argc > 1 && std::string(argv[1]) == "--json");
  if (code) return static_cast<int>(code.value());
  std::fprintf(stderr, "bench_report: %s\n", code.error().message.c_str());
  return static_cast<int>(ExitCode::failed);
}

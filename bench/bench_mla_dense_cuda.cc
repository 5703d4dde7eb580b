// The CUDA kernel of mla_dense against ceilings of the same GPU, cold L2, split and combine
// together.
//   bench_mla_dense_cuda [--csv]
// Without options the cases that a claim is held against: exit 1 when one is missed.  --csv: a
// table of many shapes, with the command that made it.  Without a GPU it says so and does nothing.

#include <cstdio>
#include <cstring>
#include <optional>

#include "agent/ceilings.h"
#include "agent/device_cuda.h"
#include "core/stats.h"
#include "core/version.h"
#include "kernels/verify.h"

namespace headsplit::bench {
namespace {

using agent::Device;
using kernels::Part;
using kernels::Problem;

/// Shares of the ceilings that must be reached with 128 requests of 4096 tokens.
constexpr double kReadShare = 0.55;
constexpr double kMatmulShare = 0.45;
constexpr int kLaunches = 24;
/// Tokens that the fp64 reference may go over for one case.
constexpr std::int64_t kReferenceTokens = 32'768;

struct Case {
  int batch = 128;
  int query_tokens = 1;
  int local_heads = 16;
  std::int64_t context = 4096;
};

struct CaseResult {
  Case chosen;
  kernels::Config config;
  double time_us = 0;  ///< median
  double time_p10_us = 0;
  double time_warm_us = 0;
  double split_us = 0;
  double combine_us = 0;
  double tflops = 0;
  double gbps = 0;
  double error_vs_reference = 0;
};

Result<double> median_us(Device& device, kernels::BoundKernel& kernel, Part part, L2 l2,
                         int launches) {
  return quantile(TRY(device.time(kernel, {part, l2, launches})).samples_us, 0.5);
}

Result<CaseResult> measure(Device& device, const Case& chosen) {
  const RankProblem shape{.local_heads = chosen.local_heads,
                          .batch = chosen.batch,
                          .query_tokens = chosen.query_tokens,
                          .context = chosen.context};
  const Problem problem = kernels::make_problem(shape, 1);
  const auto kernel = TRY(device.bind("mla_dense", problem));
  TRY(kernel->poison());
  TRY(kernel->launch(Part::all));
  const auto verified = TRY(kernels::verify(
      *kernel, problem, std::max<std::int64_t>(1, kReferenceTokens / chosen.context)));
  const auto samples_us = TRY(device.time(*kernel, {.launches = kLaunches})).samples_us;
  CaseResult result{.chosen = chosen,
                    .config = kernel->config(),
                    .time_us = quantile(samples_us, 0.5),
                    .time_p10_us = quantile(samples_us, 0.1),
                    .error_vs_reference = verified.worst};
  result.time_warm_us = TRY(median_us(device, *kernel, Part::all, L2::warm, kLaunches / 4));
  if (result.config.num_splits > 1) {
    result.split_us = TRY(median_us(device, *kernel, Part::split, L2::cold, kLaunches / 4));
    result.combine_us = TRY(median_us(device, *kernel, Part::combine, L2::cold, kLaunches / 4));
  }
  const kernels::Work work = kernels::work(problem);
  result.tflops = work.flops / result.time_us * 1e-6;
  result.gbps = work.hbm_bytes() / result.time_us * 1e-3;
  return result;
}

/// Of a claim; a ceiling that could not be measured misses it.
bool judge(const CaseResult& result, double reached, const std::optional<double>& ceiling,
           double share, const char* unit) {
  const double ratio = ceiling ? reached / *ceiling : 0;
  std::printf("B=%d T=%d H=%d L=%lld %8.1f us %7.1f %s, %.1f %% of the ceiling %.1f: %s\n",
              result.chosen.batch, result.chosen.query_tokens, result.chosen.local_heads,
              static_cast<long long>(result.chosen.context), result.time_us, reached, unit,
              100 * ratio, ceiling.value_or(0), ratio >= share ? "reached" : "MISSED");
  return ratio >= share;
}

Result<bool> run_claims(Device& device) {
  const Ceilings ceilings = TRY(agent::measure_ceilings(device));
  const CaseResult few = TRY(measure(device, {.local_heads = 16}));
  const CaseResult many = TRY(measure(device, {.local_heads = 128}));
  const bool reads = judge(few, few.gbps, ceilings.read_gbps, kReadShare, "GB/s");
  const bool multiplies = judge(many, many.tflops, ceilings.bf16_tflops, kMatmulShare, "TFLOP/s");
  if (!ceilings.reason.empty()) std::printf("%s\n", ceilings.reason.c_str());
  return reads && multiplies;
}

std::vector<Case> table_cases() {
  std::vector<Case> cases;
  for (const int query_tokens : {1, 2}) {
    for (const int heads : {8, 16, 32, 64, 128}) {
      for (const int batch : {1, 16, 128}) {
        for (const std::int64_t context : {1024, 4096, 16384, 65536}) {
          if (batch * context > 128 * 16384) continue;
          cases.push_back(Case{batch, query_tokens, heads, context});
        }
      }
    }
  }
  return cases;
}

Result<void> print_table(Device& device) {
  const agent::DeviceInfo& info = device.info();
  const Ceilings ceilings = TRY(agent::measure_ceilings(device));
  std::printf("# bench_mla_dense_cuda --csv, revision %s, %s, driver %s, CUDA %s\n",
              build_revision().c_str(), info.name.c_str(), info.driver.c_str(), info.cuda.c_str());
  std::printf("# ceilings: read %.0f GB/s, bf16 matmul %.0f TFLOP/s; cold L2, medians of %d\n",
              ceilings.read_gbps.value_or(0), ceilings.bf16_tflops.value_or(0), kLaunches);
  std::printf(
      "batch,query_tokens,local_heads,context,kv_dtype,time_us,tflops,gbps,time_p10_us,"
      "time_warm_us,split_us,combine_us,num_splits,padded_rows,active_ctas,error_vs_reference\n");
  for (const Case& chosen : table_cases()) {
    const CaseResult r = TRY(measure(device, chosen));
    std::printf("%d,%d,%d,%lld,bf16,%.2f,%.1f,%.0f,%.2f,%.2f,%.2f,%.2f,%d,%d,%d,%.3f\n",
                chosen.batch, chosen.query_tokens, chosen.local_heads,
                static_cast<long long>(chosen.context), r.time_us, r.tflops, r.gbps, r.time_p10_us,
                r.time_warm_us, r.split_us, r.combine_us, r.config.num_splits, r.config.padded_rows,
                r.config.workers, r.error_vs_reference);
    std::fflush(stdout);
  }
  return {};
}

int run(bool as_csv) {
  const auto device = agent::open_cuda_device();
  if (!device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  Result<bool> reached = true;
  if (as_csv) {
    if (const auto printed = print_table(**device); !printed) reached = printed.error();
  } else {
    reached = run_claims(**device);
  }
  if (!reached) std::fprintf(stderr, "%s\n", reached.error().message.c_str());
  return reached && *reached ? 0 : 1;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  const bool as_csv = argc == 2 && std::strcmp(argv[1], "--csv") == 0;
  if (argc > 1 && !as_csv) {
    std::fprintf(stderr, "usage: %s [--csv]\n", argv[0]);
    return 2;
  }
  return headsplit::bench::run(as_csv);
}

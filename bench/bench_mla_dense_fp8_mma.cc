// mla_dense with products in FP8 (queries and softmax weights rounded to e4m3, fp8_tensor cache)
// beside mla_dense on the bf16 cache, under head TP; cold L2, split and combine together.
//   bench_mla_dense_fp8_mma
// Prints a CSV row a shape, with the largest error in units of the output row's rms, then what is
// claimed (docs/mla-dense-fp8.md); exit 1 when it is missed.  Without a GPU it says so and does
// nothing.

#include <cstdio>

#include "agent/device_cuda.h"
#include "bench/mla_dense_case.h"
#include "core/version.h"

namespace headsplit::bench {
namespace {

constexpr int kHeads = 128;
constexpr double kClaimedTflops = 800;

void print_row(const MlaDenseResult& bf16, const MlaDenseResult& fp8) {
  std::printf("%d,%lld,%d,%d,%.2f,%.2f,%.3f,%.1f,%.0f,%.3f,\"%s\"\n", fp8.shape.batch,
              static_cast<long long>(fp8.shape.context), kHeads / fp8.shape.local_heads,
              fp8.shape.local_heads, bf16.time_us, fp8.time_us, bf16.time_us / fp8.time_us,
              fp8.tflops, fp8.gbps, fp8.error_vs_reference, fp8.config.reason.c_str());
  std::fflush(stdout);
}

/// Both kernels on a shape.  Gives the second one's TFLOP/s.
Result<double> measure(agent::Device& device, MlaDenseCase shape) {
  const MlaDenseResult bf16 = TRY(measure_mla_dense(device, shape));
  shape.kv_dtype = KvDtype::fp8_tensor;
  shape.kernel = "mla_dense_fp8_mma";
  const MlaDenseResult fp8 = TRY(measure_mla_dense(device, shape));
  print_row(bf16, fp8);
  return fp8.tflops;
}

Result<bool> run() {
  const auto device = TRY(agent::open_cuda_device());
  const agent::DeviceInfo& info = device->info();
  std::printf("# bench_mla_dense_fp8_mma, revision %s, %s, driver %s, CUDA %s\n",
              build_revision().c_str(), info.name.c_str(), info.driver.c_str(), info.cuda.c_str());
  std::printf(
      "batch,context,tp,local_heads,bf16_us,fp8_us,speedup,fp8_tflops,fp8_gbps,error_vs_reference,"
      "fp8_kernel\n");
  double most = 0;
  for (const int batch : {64, 16, 1}) {
    for (const int context : {4096, 16384, 65536}) {
      for (const int tp : {1, 2, 4, 8}) {
        const double tflops =
            TRY(measure(*device, {.batch = batch, .local_heads = kHeads / tp, .context = context}));
        if (batch == 64 && context == 65536 && tp == 1) most = tflops;
      }
    }
  }
  std::printf("claim: batch 64, context 65536, 128 heads: %.0f TFLOP/s, at least %.0f: %s\n", most,
              kClaimedTflops, most >= kClaimedTflops ? "reached" : "missed");
  return most >= kClaimedTflops;
}

}  // namespace
}  // namespace headsplit::bench

int main() {
  using namespace headsplit;
  if (const auto device = agent::open_cuda_device(); !device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  const auto reached = bench::run();
  if (!reached) std::fprintf(stderr, "%s\n", reached.error().message.c_str());
  return reached && *reached ? 0 : 1;
}

// mla_dense on an FP8 cache beside the bf16 cache, under head TP; cold L2, split and combine
// together.
//   bench_mla_dense_fp8 [--few] [--tensor]
// Prints a CSV row a shape, then what is claimed (docs/mla-dense-fp8.md); exit 1 when a claim is
// missed.  --few: batch 64 only.  --tensor: rows of 576 bytes with one scale
// for the cache, not of 656.  Without a GPU it says so and does nothing.

#include <cstdio>
#include <string_view>

#include "agent/device_cuda.h"
#include "bench/mla_dense_claims.h"
#include "core/version.h"

namespace headsplit::bench {
namespace {

constexpr int kHeads = 128;

Result<OnBothCaches> measure(agent::Device& device, KvDtype dtype, MlaDenseCase shape) {
  shape.kv_dtype = KvDtype::bf16;
  MlaDenseResult bf16 = TRY(measure_mla_dense(device, shape));
  shape.kv_dtype = dtype;
  MlaDenseResult fp8 = TRY(measure_mla_dense(device, shape));
  return OnBothCaches{std::move(bf16), std::move(fp8)};
}

void print_row(const OnBothCaches& row) {
  const MlaDenseResult& fp8 = row.fp8;
  std::printf("%s,%d,%lld,%d,%d,%.2f,%.2f,%.3f,%.1f,%.0f,%.3f,\"%s\"\n",
              enum_name(fp8.shape.kv_dtype).c_str(), fp8.shape.batch,
              static_cast<long long>(fp8.shape.context), kHeads / fp8.shape.local_heads,
              fp8.shape.local_heads, row.bf16.time_us, fp8.time_us, row.speedup(), fp8.tflops,
              fp8.gbps, fp8.error_vs_reference, fp8.config.reason.c_str());
  std::fflush(stdout);
}

Result<bool> run(bool few, KvDtype dtype) {
  const auto device = TRY(agent::open_cuda_device());
  const agent::DeviceInfo& info = device->info();
  std::printf("# bench_mla_dense_fp8, revision %s, %s, driver %s, CUDA %s\n",
              build_revision().c_str(), info.name.c_str(), info.driver.c_str(), info.cuda.c_str());
  std::printf(
      "kv_dtype,batch,context,tp,local_heads,bf16_us,fp8_us,speedup,fp8_tflops,fp8_gbps,error_vs_"
      "reference,"
      "fp8_kernel\n");
  std::vector<OnBothCaches> rows;
  for (const int batch : {1, 16, 64}) {
    if (few && batch < 64) continue;
    for (const int context : {4096, 16384, 65536}) {
      for (const int tp : {1, 2, 4, 8, 16}) {
        rows.push_back(TRY(measure(
            *device, dtype, {.batch = batch, .local_heads = kHeads / tp, .context = context})));
        print_row(rows.back());
      }
    }
  }
  return judge_mla_dense_fp8(rows);
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  using namespace headsplit;
  bool few = false;
  KvDtype dtype = KvDtype::fp8;
  for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
    if (argument == "--few") {
      few = true;
    } else if (argument == "--tensor") {
      dtype = KvDtype::fp8_tensor;
    } else {
      std::fprintf(stderr, "usage: %s [--few] [--tensor]\n", argv[0]);
      return 2;
    }
  }
  if (const auto device = agent::open_cuda_device(); !device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  const auto reached = bench::run(few, dtype);
  if (!reached) std::fprintf(stderr, "%s\n", reached.error().message.c_str());
  return reached && *reached ? 0 : 1;
}

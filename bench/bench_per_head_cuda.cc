// The CUDA kernels over per-head keys and values (MHA, GQA, MQA, expanded MLA) against the read
// ceiling of this GPU, measured in the same run, and against recorded times of cuDNN; cold L2.
//   bench_per_head_cuda [--only TEXT]
// Prints a CSV row a shape, then what is claimed (docs/per-head.md); exit 1 when a claim is missed.
// --only: shapes whose description has the text, such as "prefill" or "Falcon".
// Without a GPU it says so and does nothing.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/ceilings.h"
#include "agent/device_cuda.h"
#include "bench/per_head_case.h"
#include "core/version.h"

namespace headsplit::bench {
namespace {

/// Batch 64, context 8192; the last ones are the widths that padding in shared memory serves.
constexpr PerHeadCase kDecode[] = {
    {.kernel = "gqa_decode", .what = "decode Qwen2.5-7B", .heads = 28, .kv_heads = 4},
    {.kernel = "gqa_decode", .what = "decode Mixtral", .heads = 32, .kv_heads = 8},
    {.kernel = "mqa_decode",
     .what = "decode Falcon-7B",
     .heads = 71,
     .kv_heads = 1,
     .d_k = 64,
     .d_v = 64},
    {.kernel = "mha_decode", .what = "decode MHA of Qwen2.5-7B", .heads = 28, .kv_heads = 28},
    {.kernel = "mha_decode", .what = "decode MHA of Mixtral", .heads = 32, .kv_heads = 32},
    {.kernel = "mha_decode",
     .what = "decode MHA of 64",
     .heads = 71,
     .kv_heads = 71,
     .d_k = 64,
     .d_v = 64},
    {.kernel = "mqa_decode", .what = "decode MQA of 128", .heads = 16, .kv_heads = 1},
    {.kernel = "gqa_decode",
     .what = "wide decode of 256",
     .heads = 16,
     .kv_heads = 8,
     .d_k = 256,
     .d_v = 256},
    {.kernel = "mha_decode",
     .what = "wide decode of 80",
     .heads = 32,
     .kv_heads = 32,
     .d_k = 80,
     .d_v = 80},
};

/// cuDNN 9.19 through PyTorch 2.11 on an H200, warm caches, median of 10.
struct PeerTime {
  int query_tokens;
  int context;
  double us;
};
constexpr PeerTime kCudnn[] = {{1, 4096, 2705.9},      {16, 4096, 2533.2},  {32, 4096, 2619.5},
                               {64, 4096, 2640.5},     {128, 4096, 2734.2}, {4096, 4096, 1174.7},
                               {16384, 16384, 18819.3}};

double peer_us(int query_tokens, int context) {
  for (const PeerTime& peer : kCudnn) {
    if (peer.query_tokens == query_tokens && peer.context == context) return peer.us;
  }
  return 0;
}

PerHeadCase expanded(std::string_view what, int batch, int query_tokens, int context) {
  return {.kernel = "mla_expanded",
          .what = what,
          .heads = 128,
          .kv_heads = 128,
          .d_k = 192,
          .d_v = 128,
          .batch = batch,
          .query_tokens = query_tokens,
          .context = context,
          .peer_us = peer_us(query_tokens, context)};
}

std::vector<PerHeadCase> all_cases() {
  std::vector<PerHeadCase> cases(std::begin(kDecode), std::end(kDecode));
  for (const int query_tokens : {1, 2, 4, 8, 16, 32, 64, 128}) {
    cases.push_back(expanded("expanded decode", 32, query_tokens, 4096));
  }
  for (const int context : {4096, 8192, 16384}) {
    cases.push_back(expanded("expanded prefill", 1, context, context));
  }
  return cases;
}

struct Measured {
  PerHeadResult result;
  double read_fraction = 0;
};

void print_row(const Measured& row) {
  const PerHeadResult& r = row.result;
  const PerHeadCase& s = r.shape;
  std::printf(
      "%s,%s,%d,%d,%d,%d,%d,%d,%d,%.2f,%.1f,%.0f,%.3f,%.1f,%.3f,%.2f,%.2f,%.2f,%d,%d,%d,%d,"
      "%.3f\n",
      std::string(s.kernel).c_str(), std::string(s.what).c_str(), s.batch, s.query_tokens, s.heads,
      s.kv_heads, s.d_k, s.d_v, s.context, r.time_us, r.tflops, r.gbps, row.read_fraction,
      s.peer_us, s.peer_us > 0 ? r.time_us / s.peer_us : 0, r.time_p10_us, r.time_warm_us,
      r.combine_us, r.config.tile_rows, r.config.num_splits, r.config.padded_rows, r.config.workers,
      r.error_vs_reference);
  std::printf("#   %s\n", r.config.reason.c_str());
  std::fflush(stdout);
}

/// Whether the least value of the rows reaches the limit; says so.
bool reached(const char* what, const std::vector<Measured>& rows,
             const std::function<bool(const PerHeadCase&)>& selected,
             const std::function<double(const Measured&)>& value, double limit) {
  std::optional<double> least;
  for (const Measured& row : rows) {
    if (!selected(row.result.shape)) continue;
    least = std::min(least.value_or(value(row)), value(row));
  }
  if (!least) return true;
  std::printf("# %-56s %8.3f, at least %8.3f: %s\n", what, *least, limit,
              *least >= limit ? "reached" : "MISSED");
  return *least >= limit;
}

bool judge(const std::vector<Measured>& rows) {
  const auto is_decode = [](const PerHeadCase& shape) { return shape.what.starts_with("decode"); };
  const auto is_expanded = [](const PerHeadCase& shape) {
    return shape.what == "expanded decode" && shape.query_tokens <= 64;
  };
  const auto prefill_of = [](int context) {
    return [context](const PerHeadCase& shape) {
      return shape.is_prefill() && shape.context == context;
    };
  };
  const auto fraction = [](const Measured& row) { return row.read_fraction; };
  const auto tbps = [](const Measured& row) { return row.result.gbps * 1e-3; };
  const auto tflops = [](const Measured& row) { return row.result.tflops; };
  bool all =
      reached("of the read ceiling, MHA, GQA and MQA decode", rows, is_decode, fraction, 0.92);
  all &= reached("TB/s, expanded decode, 1 to 64 query tokens", rows, is_expanded, tbps, 4.2);
  all &= reached("TFLOP/s, expanded prefill of 4096", rows, prefill_of(4096), tflops, 600);
  all &= reached("TFLOP/s, expanded prefill of 16384", rows, prefill_of(16384), tflops, 640);
  return all;
}

Result<bool> run(const std::string& only) {
  const auto device = TRY(agent::open_cuda_device());
  const agent::DeviceInfo& info = device->info();
  const Ceilings ceilings = TRY(agent::measure_ceilings(*device));
  const double read_gbps = ceilings.read_gbps.value_or(0);
  std::printf("# bench_per_head_cuda, revision %s, %s, driver %s, CUDA %s\n",
              build_revision().c_str(), info.name.c_str(), info.driver.c_str(), info.cuda.c_str());
  std::printf("# ceilings: read %.0f GB/s, bf16 matmul %.0f TFLOP/s\n", read_gbps,
              ceilings.bf16_tflops.value_or(0));
  std::printf(
      "kernel,what,batch,query_tokens,heads,kv_heads,d_k,d_v,context,time_us,tflops,gbps,"
      "read_fraction,peer_us,ratio,time_p10_us,time_warm_us,combine_us,tile_rows,num_splits,"
      "padded_rows,workers,error_vs_reference\n");
  std::vector<Measured> rows;
  for (const PerHeadCase& shape : all_cases()) {
    if (shape.what.find(only) == std::string_view::npos) continue;
    Measured row{.result = TRY(measure_per_head(*device, shape))};
    row.read_fraction = read_gbps > 0 ? row.result.gbps / read_gbps : 0;
    print_row(row);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return fail(ErrorKind::config, "no shape has '", only, "' in its description");
  return judge(rows);
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  using namespace headsplit;
  std::string only;
  if (argc == 3 && std::string_view(argv[1]) == "--only") {
    only = argv[2];
  } else if (argc > 1) {
    std::fprintf(stderr, "usage: %s [--only TEXT]\n", argv[0]);
    return 2;
  }
  if (const auto device = agent::open_cuda_device(); !device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  const auto reached = bench::run(only);
  if (!reached) std::fprintf(stderr, "%s\n", reached.error().message.c_str());
  return reached && *reached ? 0 : 1;
}

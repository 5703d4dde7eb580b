// The CUDA kernels of mla_sparse against recorded times of another kernel and against ceilings of
// this GPU measured in the same run; cold L2, split and combine together.
//   bench_mla_sparse_cuda [--peers FILE] [--csv | --json] [--few]
// Prints a row a shape, then what is claimed (docs/mla-sparse.md); exit 1 when a claim is missed.
// FILE: a table of configs/reference (flashmla-h200-sparse.csv); shapes of our own follow its rows.
// --json: a JSON object a line.  --few: every eighth shape.
// Without a GPU it says so and does nothing.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "agent/ceilings.h"
#include "agent/device_cuda.h"
#include "bench/mla_sparse_case.h"
#include "coordinator/answers/reference_table.h"
#include "core/version.h"
#include "tp/config_files.h"

namespace headsplit::bench {
namespace {

/// Matrix products at full power are behind the ceilings: shapes measured within the second after
/// them were up to 15 % slower than later.
constexpr std::chrono::seconds kPause{2};

struct Options {
  std::string peers;
  bool json = false;
  int every = 1;
};

/// Fewer heads than the peer takes, contexts along which the time should not change, bf16.
std::vector<MlaSparseCase> own_cases() {
  std::vector<MlaSparseCase> cases;
  for (const int heads : {8, 16, 32}) {
    for (const int batch : {1, 16, 64, 128}) {
      cases.push_back({.batch = batch, .local_heads = heads});
    }
  }
  for (const std::int64_t context : {4096, 65536, 131072}) {
    cases.push_back({.batch = 64, .local_heads = 16, .context = context});
  }
  cases.push_back({.batch = 64, .local_heads = 20});
  cases.push_back({.batch = 64, .local_heads = 40});
  for (const int heads : {16, 64, 128}) {
    for (const int batch : {1, 64}) {
      cases.push_back({.batch = batch, .local_heads = heads, .kv_dtype = KvDtype::bf16});
    }
  }
  return cases;
}

Result<std::vector<MlaSparseCase>> cases_of(const Options& options) {
  std::vector<MlaSparseCase> cases;
  for (const auto& peer : TRY(coordinator::read_reference_table(options.peers)).times) {
    if (peer.top_k == 0) return fail(ErrorKind::config, options.peers, ": a row without top_k");
    cases.push_back({peer.batch, peer.query_tokens, peer.local_heads, peer.context, peer.top_k,
                     peer.kv_dtype, peer.time_us});
  }
  const auto own = own_cases();
  cases.insert(cases.end(), own.begin(), own.end());
  return cases;
}

void print_json(const MlaSparseResult& r) {
  json::object row{{"batch", r.shape.batch},
                   {"query_tokens", r.shape.query_tokens},
                   {"local_heads", r.shape.local_heads},
                   {"context", r.shape.context},
                   {"top_k", r.shape.top_k},
                   {"kv_dtype", enum_name(r.shape.kv_dtype)},
                   {"time_us", r.time_us},
                   {"peer_us", r.shape.peer_us},
                   {"ratio", r.ratio()},
                   {"tflops", r.tflops},
                   {"gbps", r.gbps},
                   {"roofline_fraction", r.roofline_fraction},
                   {"limiter", enum_name(r.limiter)},
                   {"time_warm_us", r.time_warm_us},
                   {"split_us", r.split_us},
                   {"combine_us", r.combine_us},
                   {"num_splits", r.config.num_splits},
                   {"tile_rows", r.config.tile_rows},
                   {"active_ctas", r.config.workers},
                   {"error_vs_reference", r.error_vs_reference}};
  std::printf("%s\n", json::serialize(row).c_str());
}

void print_csv(const MlaSparseResult& r) {
  std::printf("%d,%d,%d,%lld,%d,%s,%.2f,%.2f,%.3f,%.1f,%.0f,%.3f,%s,%.2f,%.2f,%.2f,%d,%d,%d,%.3f\n",
              r.shape.batch, r.shape.query_tokens, r.shape.local_heads,
              static_cast<long long>(r.shape.context), r.shape.top_k,
              enum_name(r.shape.kv_dtype).c_str(), r.time_us, r.shape.peer_us, r.ratio(), r.tflops,
              r.gbps, r.roofline_fraction, enum_name(r.limiter).c_str(), r.time_warm_us, r.split_us,
              r.combine_us, r.config.num_splits, r.config.tile_rows, r.config.workers,
              r.error_vs_reference);
}

Result<bool> run(const Options& options) {
  const auto cases = TRY(cases_of(options));
  const auto device = TRY(agent::open_cuda_device());
  const agent::DeviceInfo& info = device->info();
  const Ceilings ceilings = TRY(agent::measure_ceilings(*device));
  std::this_thread::sleep_for(kPause);
  std::printf("# bench_mla_sparse_cuda, revision %s, %s, driver %s, CUDA %s\n",
              build_revision().c_str(), info.name.c_str(), info.driver.c_str(), info.cuda.c_str());
  std::printf("# ceilings: read %.0f GB/s, bf16 matmul %.0f TFLOP/s; peer: %s\n",
              ceilings.read_gbps.value_or(0), ceilings.bf16_tflops.value_or(0),
              options.peers.substr(options.peers.find_last_of('/') + 1).c_str());
  if (!options.json) {
    std::printf(
        "batch,query_tokens,local_heads,context,top_k,kv_dtype,time_us,peer_us,ratio,tflops,gbps,"
        "roofline_fraction,limiter,time_warm_us,split_us,combine_us,num_splits,tile_rows,"
        "active_ctas,error_vs_reference\n");
  }
  std::vector<MlaSparseResult> results;
  for (std::size_t i = 0; i < cases.size(); i += std::size_t(options.every)) {
    results.push_back(TRY(measure_mla_sparse(*device, ceilings, cases[i])));
    (options.json ? print_json : print_csv)(results.back());
    std::fflush(stdout);
  }
  return judge_mla_sparse(results);
}

/// Fails: config (usage), io (no configs folder).
Result<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--few") {
      options.every = 8;
    } else if (option == "--csv" || option == "--json") {
      options.json = option == "--json";
    } else if (option == "--peers" && i + 1 < argc) {
      options.peers = argv[++i];
    } else {
      return fail(ErrorKind::config, "usage: ", argv[0],
                  " [--peers FILE] [--csv | --json] [--few]");
    }
  }
  if (options.peers.empty()) {
    options.peers = (TRY(tp::configs_folder()) / "reference" / "flashmla-h200-sparse.csv").string();
  }
  return options;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  using namespace headsplit;
  const auto options = bench::read_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "%s\n", options.error().message.c_str());
    return 2;
  }
  if (const auto device = agent::open_cuda_device(); !device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  const auto reached = bench::run(*options);
  if (!reached) std::fprintf(stderr, "%s\n", reached.error().message.c_str());
  return reached && *reached ? 0 : 1;
}

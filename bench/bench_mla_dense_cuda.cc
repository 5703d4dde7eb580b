// The CUDA kernels of mla_dense against recorded times of another kernel and against ceilings of
// this GPU measured in the same run; cold L2, split and combine together.
//   bench_mla_dense_cuda [--peers FILE] [--few]
// Prints a CSV row a shape, then what is claimed (docs/mla-dense.md); exit 1 when a claim is
// missed. FILE: a table of configs/reference (flashmla-h200.csv).  --few: every eighth shape.
// Without a GPU it says so and does nothing.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "agent/ceilings.h"
#include "agent/device_cuda.h"
#include "bench/mla_dense_claims.h"
#include "coordinator/answers/reference_table.h"
#include "core/version.h"
#include "tp/config_files.h"

namespace headsplit::bench {
namespace {

struct Options {
  std::string peers;
  int every = 1;
};

double roofline_us(const MlaDenseResult& result, const Ceilings& ceilings) {
  const double bytes_us =
      ceilings.read_gbps ? result.gbps * result.time_us / *ceilings.read_gbps : 0;
  const double flops_us =
      ceilings.bf16_tflops ? result.tflops * result.time_us / *ceilings.bf16_tflops : 0;
  return std::max(bytes_us, flops_us);
}

void print_row(const Compared& row) {
  const MlaDenseResult& r = row.result;
  std::printf(
      "%d,%d,%d,%lld,bf16,%.2f,%.1f,%.0f,%.2f,%.3f,%.3f,%.2f,%.2f,%.2f,%.2f,%d,%d,%d,%.3f\n",
      r.shape.batch, r.shape.query_tokens, r.shape.local_heads,
      static_cast<long long>(r.shape.context), r.time_us, r.tflops, r.gbps, row.peer_us,
      row.ratio(), row.roofline_fraction, r.time_p10_us, r.time_warm_us, r.split_us, r.combine_us,
      r.config.num_splits, r.config.padded_rows, r.config.workers, r.error_vs_reference);
  std::fflush(stdout);
}

Result<std::vector<Compared>> compare(agent::Device& device, const Options& options,
                                      const Ceilings& ceilings) {
  const auto peers = TRY(coordinator::read_reference_table(options.peers)).times;
  std::vector<Compared> rows;
  for (std::size_t i = 0; i < peers.size(); i += std::size_t(options.every)) {
    const coordinator::ReferenceTime& peer = peers[i];
    if (peer.kv_dtype != KvDtype::bf16) continue;
    Compared row{.result = TRY(measure_mla_dense(
                     device, {peer.batch, peer.query_tokens, peer.local_heads, peer.context})),
                 .peer_us = peer.time_us};
    row.roofline_fraction = roofline_us(row.result, ceilings) / row.result.time_us;
    print_row(row);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return fail(ErrorKind::config, options.peers, ": no rows of a bf16 cache");
  return rows;
}

Result<bool> run(const Options& options) {
  const auto device = TRY(agent::open_cuda_device());
  const agent::DeviceInfo& info = device->info();
  const Ceilings ceilings = TRY(agent::measure_ceilings(*device));
  std::printf("# bench_mla_dense_cuda, revision %s, %s, driver %s, CUDA %s\n",
              build_revision().c_str(), info.name.c_str(), info.driver.c_str(), info.cuda.c_str());
  std::printf("# ceilings: read %.0f GB/s, bf16 matmul %.0f TFLOP/s; peer: %s\n",
              ceilings.read_gbps.value_or(0), ceilings.bf16_tflops.value_or(0),
              options.peers.substr(options.peers.find_last_of('/') + 1).c_str());
  std::printf(
      "batch,query_tokens,local_heads,context,kv_dtype,time_us,tflops,gbps,peer_us,ratio,"
      "roofline_fraction,time_p10_us,time_warm_us,split_us,combine_us,num_splits,padded_rows,"
      "active_ctas,error_vs_reference\n");
  return judge_mla_dense(TRY(compare(*device, options, ceilings)));
}

/// Fails: config (usage), io (no configs folder).
Result<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--few") {
      options.every = 8;
    } else if (option == "--peers" && i + 1 < argc) {
      options.peers = argv[++i];
    } else {
      return fail(ErrorKind::config, "usage: ", argv[0], " [--peers FILE] [--few]");
    }
  }
  if (options.peers.empty()) {
    options.peers = (TRY(tp::configs_folder()) / "reference" / "flashmla-h200.csv").string();
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

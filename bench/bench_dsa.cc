// The indexer of DeepSeek sparse attention and the sparse attention over what it chose: apart and
// together, beside dense attention of the same heads, for tp 1, 2, 4 and 8 (docs/dsa-indexer.md).
//   bench_dsa [bf16|fp8]
// Prints a line a shape, times in us, L2 flushed before each sample; then what writing FP8 rows
// takes.  Without a GPU it says so and does nothing.

#include <cstdio>
#include <cstring>
#include <memory>

#include "agent/device_cuda.h"
#include "bench/in_sequence.h"
#include "bench/kv_write_case.h"
#include "bench/launch_times.h"
#include "core/version.h"
#include "kernels/verify.h"

namespace headsplit::bench {
namespace {

using kernels::Backend;
using kernels::BoundKernel;
using kernels::Part;
using kernels::Problem;

constexpr int kLaunches = 9;
constexpr agent::TimeRequest kWhole{.launches = kLaunches};
constexpr agent::TimeRequest kScores{.part = Part::split, .launches = kLaunches};
constexpr agent::TimeRequest kSelect{.part = Part::combine, .launches = kLaunches};
constexpr std::int64_t kRowsChecked = 4;
/// DeepSeek-V3.2.
constexpr int kHeads = 128;
constexpr int kIndexHeads = 64;
constexpr int kIndexDim = 128;
constexpr int kTopK = 2048;

RankProblem shape_of(Family family, int heads, int batch, int context, KvDtype dtype) {
  return {.local_heads = heads,
          .batch = batch,
          .context = context,
          .kv_dtype = dtype,
          .family = family,
          .top_k = family == Family::mla_dense ? 0 : kTopK,
          .index_heads = family == Family::mla_dense ? 0 : kIndexHeads,
          .index_dim = family == Family::mla_dense ? 0 : kIndexDim};
}

Result<std::unique_ptr<BoundKernel>> checked(agent::Device& device, const char* name,
                                             const Problem& problem) {
  auto kernel = TRY(device.bind(name, problem));
  TRY(kernel->poison());
  TRY(kernel->launch(Part::all));
  TRY(kernels::verify(*kernel, problem, kRowsChecked));
  return kernel;
}

Result<void> measure(agent::Device& device, int batch, int context, KvDtype dtype) {
  const Problem scored =
      kernels::make_problem(shape_of(Family::dsa_indexer, kIndexHeads, batch, context, dtype), 1);
  const auto indexer = TRY(checked(device, "dsa_indexer", scored));
  const double scores_us = TRY(median_us(device, *indexer, kScores));
  const double select_us = TRY(median_us(device, *indexer, kSelect));
  const double indexer_us = TRY(median_us(device, *indexer, kWhole));
  const auto* sparse_entry = TRY(kernels::find_kernel("mla_sparse", Backend::cuda));
  for (const int tp : {1, 2, 4, 8}) {
    // What is timed last is no kernel that another one could take the place of in memory: a device
    // knows kernels by their address.
    const Problem dense =
        kernels::make_problem(shape_of(Family::mla_dense, kHeads / tp, batch, context, dtype), 1);
    const auto all_tokens = TRY(device.bind("mla_dense", dense));
    const double dense_us = TRY(median_us(device, *all_tokens, kWhole));
    const Problem sparse =
        kernels::make_problem(shape_of(Family::mla_sparse, kHeads / tp, batch, context, dtype), 1);
    const auto attend =
        TRY(sparse_entry->bind(sparse, {.stream = device.stream(), .lists = indexer->lists()}));
    const double attend_us = TRY(median_us(device, *attend, kWhole));
    InSequence both(*indexer, *attend);
    const double both_us = TRY(median_us(device, both, kWhole));
    std::printf("%s,%d,%d,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.2f\n", enum_name(dtype).c_str(), tp,
                batch, context, scores_us, select_us, indexer_us, attend_us, both_us, dense_us,
                dense_us / both_us);
    std::fflush(stdout);
  }
  return {};
}

Result<void> run(agent::Device& device, KvDtype dtype) {
  std::printf("# bench_dsa, revision %s, %s\n", build_revision().c_str(),
              device.info().name.c_str());
  std::printf(
      "kv_dtype,tp,batch,context,scores_us,select_us,indexer_us,sparse_us,together_us,dense_us,"
      "dense_over_together\n");
  for (const int batch : {1, 16, 64}) {
    for (const int context : {4096, 8192, 16384, 32768, 65536, 131072}) {
      TRY(measure(device, batch, context, dtype));
    }
  }
  return measure_kv_write(device);
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  using namespace headsplit;
  const bool fp8 = argc < 2 || std::strcmp(argv[1], "bf16") != 0;
  const auto device = agent::open_cuda_device();
  if (!device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  const auto done = bench::run(**device, fp8 ? KvDtype::fp8 : KvDtype::bf16);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}

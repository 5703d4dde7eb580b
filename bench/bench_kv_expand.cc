// Expanding the latents anew at each step, and the attention over what that wrote: apart and
// together (docs/kv-expand.md).
//   bench_kv_expand
// Prints a line a shape, times in us, L2 flushed before each sample.  Without a GPU it says so and
// does nothing.

#include <cstdio>
#include <memory>

#include "agent/device_cuda.h"
#include "bench/in_sequence.h"
#include "bench/launch_times.h"
#include "core/version.h"
#include "kernels/verify.h"

namespace headsplit::bench {
namespace {

using kernels::Backend;
using kernels::BoundKernel;
using kernels::Part;
using kernels::Problem;

constexpr agent::TimeRequest kTimes{.launches = 12};
constexpr std::int64_t kRowsChecked = 64;

struct Case {
  int heads;
  int batch;
  int query_tokens;
  int context;
};
constexpr Case kCases[] = {{128, 32, 1, 4096}, {128, 32, 64, 4096}, {16, 32, 1, 4096},
                           {128, 8, 1, 1024},  {16, 8, 1, 1024},    {8, 1, 1, 4096},
                           {8, 1, 64, 4096},   {128, 8, 1, 16384}};

RankProblem shape_of(const Case& at, Family family) {
  return {.local_heads = at.heads,
          .kv_heads = at.heads,
          .batch = at.batch,
          .query_tokens = at.query_tokens,
          .context = at.context,
          .family = family};
}

Result<void> measure(agent::Device& device, const Case& at) {
  const Problem latent = kernels::make_problem(shape_of(at, Family::kv_expand), 1);
  const auto expand = TRY(device.bind("kv_expand", latent));
  TRY(expand->poison());
  TRY(expand->launch(Part::all));
  TRY(kernels::verify(*expand, latent, kRowsChecked));
  const auto* entry = TRY(kernels::find_kernel("mla_expanded", Backend::cuda));
  const Problem problem = kernels::make_problem(shape_of(at, Family::per_head), 1);
  const auto attend =
      TRY(entry->bind(problem, {.stream = device.stream(), .expanded = expand->expanded()}));
  InSequence both(*expand, *attend);
  const double expand_us = TRY(median_us(device, *expand, kTimes));
  const double attend_us = TRY(median_us(device, *attend, kTimes));
  const double both_us = TRY(median_us(device, both, kTimes));
  std::printf("%d,%d,%d,%d,%.1f,%.1f,%.1f,%.1f,%.3f\n", at.heads, at.batch, at.query_tokens,
              at.context, expand_us, attend_us, expand_us + attend_us, both_us,
              both_us / (expand_us + attend_us));
  std::fflush(stdout);
  return {};
}

Result<void> run(agent::Device& device) {
  std::printf("# bench_kv_expand, revision %s, %s\n", build_revision().c_str(),
              device.info().name.c_str());
  std::printf("heads,batch,query_tokens,context,expand_us,attend_us,sum_us,together_us,ratio\n");
  for (const Case& at : kCases) TRY(measure(device, at));
  return {};
}

}  // namespace
}  // namespace headsplit::bench

int main() {
  using namespace headsplit;
  const auto device = agent::open_cuda_device();
  if (!device) {
    std::printf("%s: nothing measured\n", device.error().message.c_str());
    return 0;
  }
  const auto done = bench::run(**device);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}

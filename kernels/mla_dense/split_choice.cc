#include "kernels/mla_dense/split_choice.h"

#include <algorithm>

namespace headsplit::kernels::dense {
namespace {

struct Widths {
  int d_latent;
  int d_rope;
  std::span<const SplitKernel> (*kernels)();
};

constexpr Widths kWidths[] = {{512, 64, split_kernels_512_64},
                              {512, 64, split_kernels_hopper},
                              {512, 0, split_kernels_512_0},
                              {256, 32, split_kernels_256_32}};

/// Stages that fit; 0: this GPU cannot run the kernel.
int stages_of(const SplitKernel& kernel, const GpuLimits& limits) {
  if (kernel.hopper && !is_hopper(limits)) return 0;
  const int stages =
      (split::room_bytes(limits, kernel.ctas_per_sm) - kernel.fixed_bytes) / kernel.stage_bytes;
  return stages < kernel.stages_min ? 0 : std::min(stages, kernel.stages_max);
}

/// Whether `a` suits this many rows better than `b`.
bool better(const SplitKernel& a, const SplitKernel& b, int rows) {
  const bool a_holds = a.rows >= rows;
  if (a_holds != (b.rows >= rows)) return a_holds;
  if (a.rows != b.rows) return a_holds ? a.rows < b.rows : a.rows > b.rows;
  if (a.hopper != b.hopper) return a.hopper;
  return a.tokens > b.tokens;
}

}  // namespace

std::vector<SplitKernel> split_kernels_of(int d_latent, int d_rope) {
  std::vector<SplitKernel> found;
  for (const Widths& widths : kWidths) {
    if (widths.d_latent != d_latent || widths.d_rope != d_rope) continue;
    const auto kernels = widths.kernels();
    found.insert(found.end(), kernels.begin(), kernels.end());
  }
  return found;
}

std::string supported_widths() {
  std::string text;
  for (const Widths& widths : kWidths) {
    if (widths.kernels == split_kernels_hopper) continue;
    text += str(text.empty() ? "" : ", ", widths.d_latent, " + ", widths.d_rope);
  }
  return text;
}

std::vector<Choice> runnable_kernels(const RankProblem& shape, const GpuLimits& limits) {
  const int rows = shape.query_tokens * shape.local_heads;
  std::vector<Choice> found;
  for (const SplitKernel& kernel : split_kernels_of(shape.d_latent, shape.d_rope)) {
    const int stages = stages_of(kernel, limits);
    if (stages == 0) continue;
    found.push_back(
        {kernel, stages,
         str(kernel.name, ", CTAs of up to ", kernel.rows, " rows for ", rows, " packed rows; ",
             stages, " stages of ", kernel.tokens, " tokens fit ",
             split::room_bytes(limits, kernel.ctas_per_sm) / 1024, " KB of shared memory")});
  }
  return found;
}

Result<Choice> choose_kernel(const RankProblem& shape, const GpuLimits& limits) {
  const int rows = shape.query_tokens * shape.local_heads;
  std::vector<Choice> choices = runnable_kernels(shape, limits);
  const auto best = std::min_element(
      choices.begin(), choices.end(),
      [&](const Choice& a, const Choice& b) { return better(a.kernel, b.kernel, rows); });
  if (best == choices.end()) {
    return fail(ErrorKind::config, "no tiles for d_latent ", shape.d_latent, " and d_rope ",
                shape.d_rope, " fit the ", limits.shared_bytes_per_cta,
                " bytes of shared memory of a CTA");
  }
  return std::move(*best);
}

}  // namespace headsplit::kernels::dense

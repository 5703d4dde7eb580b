#include "kernels/mla_dense/portable_choice.h"

#include <algorithm>

namespace headsplit::kernels::portable {
namespace {

struct Widths {
  int d_latent;
  int d_rope;
  std::span<const SplitKernel> (*kernels)();
};

constexpr Widths kWidths[] = {{512, 64, split_kernels_512_64},
                              {512, 0, split_kernels_512_0},
                              {256, 32, split_kernels_256_32}};

int room_bytes(const TileShape& shape, const GpuLimits& limits) {
  const int share = limits.shared_bytes_per_sm / shape.ctas_per_sm - kReservedSharedBytes;
  return std::min(limits.shared_bytes_per_cta, share);
}

int stages_of(const TileShape& shape, const GpuLimits& limits) {
  const int room = room_bytes(shape, limits) - shape.fixed_bytes();
  return std::clamp(room / shape.stage_bytes(), 0, shape.stages_max());
}

/// Whether `a` suits this many rows better than `b`.
bool better(const TileShape& a, const TileShape& b, int rows) {
  const bool a_holds = a.rows() >= rows;
  if (a_holds != (b.rows() >= rows)) return a_holds;
  if (a.rows() != b.rows()) return a_holds ? a.rows() < b.rows() : a.rows() > b.rows();
  return a.tokens > b.tokens;
}

}  // namespace

std::span<const SplitKernel> split_kernels_of(int d_latent, int d_rope) {
  for (const Widths& widths : kWidths) {
    if (widths.d_latent == d_latent && widths.d_rope == d_rope) return widths.kernels();
  }
  return {};
}

std::string supported_widths() {
  std::string text;
  for (const Widths& widths : kWidths) {
    text += str(text.empty() ? "" : ", ", widths.d_latent, " + ", widths.d_rope);
  }
  return text;
}

Result<Choice> choose_kernel(const RankProblem& shape, const GpuLimits& limits) {
  const int rows = shape.query_tokens * shape.local_heads;
  const SplitKernel* best = nullptr;
  for (const SplitKernel& kernel : split_kernels_of(shape.d_latent, shape.d_rope)) {
    if (stages_of(kernel.shape, limits) < 2) continue;
    if (best == nullptr || better(kernel.shape, best->shape, rows)) best = &kernel;
  }
  if (best == nullptr) {
    return fail(ErrorKind::config, "no tiles for d_latent ", shape.d_latent, " and d_rope ",
                shape.d_rope, " fit the ", limits.shared_bytes_per_cta,
                " bytes of shared memory of a CTA");
  }
  const int stages = stages_of(best->shape, limits);
  return Choice{*best, stages,
                str("CTAs of up to ", best->shape.rows(), " rows for ", rows, " packed rows; ",
                    stages, " stages of ", best->shape.tokens, " tokens fit ",
                    room_bytes(best->shape, limits) / 1024, " KB of shared memory")};
}

}  // namespace headsplit::kernels::portable

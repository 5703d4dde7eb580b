#include "kernels/dsa_indexer/score_choice.h"

#include <algorithm>

#include "kernels/dsa_indexer/select.h"

namespace headsplit::kernels::indexer {
namespace {

constexpr int kStagesMin = 2;
/// Tiles on their way to an SM: more are not faster.
constexpr int kTilesAhead = 12;
/// Tokens of a row that are worth a CTA of their own.
constexpr std::int64_t kSelectTokens = 4096;

std::int64_t tiles_of(const Problem& problem) {
  std::int64_t tiles = 0;
  for (const std::int32_t length : problem.lengths) tiles += (length + kTokens - 1) / kTokens;
  return tiles;
}

int select_ctas_of(const Problem& problem, const split::GpuLimits& limits) {
  if (limits.compute_major < 9) return 1;
  const std::int64_t rows = problem.rows();
  // Clusters of four and more do not fill all parts of the GPU.
  const auto fits = [&](std::int64_t ctas) {
    return ctas * rows <= (ctas > 2 ? limits.sm_count * 9 / 10 : limits.sm_count);
  };
  int ctas = 1;
  while (ctas < kSelectCtasMax && fits(2 * ctas) &&
         2 * ctas * kSelectTokens <= problem.shape.context) {
    ctas *= 2;
  }
  return ctas;
}

/// CTAs an SM and stages of each that shared memory has room for; no stages: it has none.
void fit(Choice& choice, const split::GpuLimits& limits, const Tuning& tuning, int& ctas_per_sm) {
  ctas_per_sm = tuning.ctas_per_sm > 0 ? tuning.ctas_per_sm : choice.kernel.ctas_per_sm;
  const auto stages_of = [&](int ctas) {
    const int room = split::room_bytes(limits, ctas) - choice.memory.bytes(0);
    return std::clamp(room / kStageBytes, 0, kStagesMax);
  };
  while (ctas_per_sm > 1 && stages_of(ctas_per_sm) < kStagesMin) --ctas_per_sm;
  const int useful = (kTilesAhead + ctas_per_sm - 1) / ctas_per_sm;
  choice.stages = std::min(stages_of(ctas_per_sm), std::max(kStagesMin, useful));
  if (tuning.stages > 0) choice.stages = std::min(choice.stages, tuning.stages);
}

}  // namespace

Result<Choice> choose(const Problem& problem, const split::GpuLimits& limits,
                      const Tuning& tuning) {
  const RankProblem& shape = problem.shape;
  const bool wgmma = split::is_hopper(limits) && !tuning.portable;
  const auto kernels = wgmma ? hopper_score_kernels() : portable_score_kernels();
  const auto fits = [&](const ScoreKernel& kernel) { return kernel.heads >= shape.index_heads; };
  Choice choice{.kernel = *std::find_if(kernels.begin(), kernels.end(), fits)};
  choice.memory = {.heads = choice.kernel.heads,
                   .query_row_bytes = choice.kernel.query_row_bytes,
                   .group_tokens = std::min(shape.query_tokens, kGroupTokens)};
  choice.groups = (shape.query_tokens + kGroupTokens - 1) / kGroupTokens;
  int ctas_per_sm = 1;
  fit(choice, limits, tuning, ctas_per_sm);
  if (choice.stages < kStagesMin) {
    return fail(ErrorKind::config, "dsa_indexer needs ", choice.memory.bytes(kStagesMin),
                " bytes of shared memory, a CTA of this GPU has ", limits.shared_bytes_per_cta);
  }
  const std::int64_t room = std::max(1, limits.sm_count * ctas_per_sm / choice.groups);
  choice.ctas = static_cast<int>(std::clamp<std::int64_t>(tiles_of(problem), 1, room));
  choice.select_ctas =
      tuning.select_ctas > 0 ? tuning.select_ctas : select_ctas_of(problem, limits);
  return choice;
}

}  // namespace headsplit::kernels::indexer

#include "kernels/per_head/head_choice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/per_head/hopper_kernel.h"
#include "kernels/per_head/tile_plan.h"

namespace headsplit::kernels::per_head {
namespace {

constexpr std::span<const HeadKernel> (*kTables[])() = {portable_kernels_to_128,
                                                        portable_kernels_to_256};

/// Packed rows from which on wgmma, which has at least 64, is worth it: where mma.sync has a kernel
/// for 32 rows, that one is better for them.
constexpr int hopper_rows_min(int d_k) { return d_k == 128 || d_k == 192 ? 33 : 17; }

/// Tiles for each CTA from which on none of them need be split.
constexpr int kTilesACta = 4;

HeadKernel entry_of(const hopper::Kernel& kernel) {
  return {.name = "wgmma",
          .d_k_max = kernel.d_k,
          .d_v_max = kernel.d_v,
          .exact_widths = true,
          .rows_min = hopper_rows_min(kernel.d_k),
          .rows = kernel.rows,
          .block_rows = kernel.block_rows,
          .tokens = kernel.tokens,
          .threads = kernel.threads,
          .ctas_per_sm = 1,
          .fixed_bytes = kernel.shared_bytes,
          .stages_min = 0,
          .stages_max = 0,
          .cta_bytes_per_us = 33e3,
          .block_us = 0.75,
          .item_us = 1.5,
          .hopper = kernel.function};
}

int group_heads(const RankProblem& shape) { return shape.local_heads / shape.kv_heads; }

bool takes(const HeadKernel& kernel, const Problem& problem, const split::GpuLimits& limits) {
  const int d_k = problem.shape.query_width();
  const int d_v = problem.shape.output_width();
  if (kernel.hopper != nullptr &&
      (!split::is_hopper(limits) || group_heads(problem.shape) > kernel.rows)) {
    return false;
  }
  if (kernel.exact_widths && (d_k != kernel.d_k_max || d_v != kernel.d_v_max)) return false;
  return d_k <= kernel.d_k_max && d_v <= kernel.d_v_max &&
         packed_rows(problem.shape) >= kernel.rows_min &&
         packed_rows(problem.shape) <= kernel.rows_limit;
}

int stages_of(const HeadKernel& kernel, int ctas_per_sm, const split::GpuLimits& limits) {
  const int room = split::room_bytes(limits, ctas_per_sm) - kernel.fixed_bytes;
  if (room < 0) return -1;
  return kernel.stages_max == 0 ? 0 : std::min(room / kernel.stage_bytes, kernel.stages_max);
}

/// With as many CTAs an SM as leave each of them the stages that it needs.
std::optional<Choice> choice_of(const HeadKernel& kernel, const Problem& problem,
                                const split::GpuLimits& limits) {
  for (int ctas = kernel.ctas_per_sm; ctas > 0; --ctas) {
    const int stages = stages_of(kernel, ctas, limits);
    if (stages < kernel.stages_min) continue;
    Choice choice{.kernel = kernel, .stages = stages, .reason = {}};
    choice.kernel.ctas_per_sm = ctas;
    choice.reason =
        str(kernel.name, " for keys to ", kernel.d_k_max, " and values to ", kernel.d_v_max,
            ", CTAs of up to ", kernel.rows, " rows for ", packed_rows(problem.shape),
            " packed rows; ", ctas, " CTAs an SM, steps of ", kernel.tokens, " tokens",
            stages > 0 ? str(", ", stages, " stages") : "");
    return choice;
  }
  return std::nullopt;
}

/// Whole tiles in the order that is best for many of them (tile_plan.h); nothing where they are too
/// few to keep all CTAs at work.
std::optional<split::SplitPlan> whole_tiles(const Problem& problem, const split::GpuLimits& limits,
                                            const HeadKernel& kernel) {
  const TilePlan tiles = plan_tiles(problem, {.ctas = limits.sm_count * kernel.ctas_per_sm,
                                              .rows = kernel.rows,
                                              .tokens = kernel.tokens,
                                              .l2_bytes = double(limits.l2_bytes)});
  if (tiles.row_tiles == 1 || std::ssize(tiles.items) < kTilesACta * tiles.ctas()) {
    return std::nullopt;
  }
  split::SplitPlan plan{.tile_rows = tiles.tile_rows,
                        .row_tiles = tiles.row_tiles,
                        .width = 1,
                        .num_splits = 1,
                        .items = {},
                        .item_begin = tiles.item_begin,
                        .merges = {}};
  for (const hopper::WorkItem& tile : tiles.items) {
    plan.items.push_back({.request = tile.request * problem.shape.kv_heads + tile.kv_head,
                          .row_begin = tile.row_begin,
                          .row_count = tile.row_count,
                          .token_begin = tile.token_begin,
                          .token_end = tile.token_end});
  }
  return plan;
}

PlannedSplit planned(const Problem& problem, const split::GpuLimits& limits, Choice choice,
                     int num_splits) {
  const HeadKernel& kernel = choice.kernel;
  if (kernel.hopper != nullptr && num_splits == 0) {
    if (auto plan = whole_tiles(problem, limits, kernel)) {
      return {std::move(choice), std::move(*plan)};
    }
  }
  const RankProblem& shape = problem.shape;
  const int rows = std::min(kernel.rows, packed_rows(shape));
  const int row_blocks = (rows + kernel.block_rows - 1) / kernel.block_rows;
  const double step_bytes = 2.0 * kernel.tokens * (shape.query_width() + shape.output_width());
  split::SplitPlan plan = split::plan_splits(
      problem,
      {.rows_max = kernel.rows,
       .row_step = kernel.hopper == nullptr ? kernel.block_rows : group_heads(problem.shape),
       .tile_tokens = kernel.tokens,
       .ctas = limits.sm_count * kernel.ctas_per_sm,
       .num_splits = num_splits,
       .cost = {
           .step_us = std::max(step_bytes / kernel.cta_bytes_per_us, kernel.block_us * row_blocks),
           .item_us = kernel.item_us,
           .start_us = kernel.start_us}});
  return {std::move(choice), std::move(plan)};
}

}  // namespace

int packed_rows(const RankProblem& shape) { return shape.query_tokens * group_heads(shape); }

std::vector<HeadKernel> head_kernels() {
  std::vector<HeadKernel> found;
  for (const hopper::Kernel& kernel : hopper::kernels()) found.push_back(entry_of(kernel));
  for (const auto table : kTables) {
    const auto kernels = table();
    found.insert(found.end(), kernels.begin(), kernels.end());
  }
  return found;
}

std::vector<Choice> runnable_kernels(const Problem& problem, const split::GpuLimits& limits) {
  std::vector<Choice> found;
  for (const HeadKernel& kernel : head_kernels()) {
    if (!takes(kernel, problem, limits)) continue;
    if (auto choice = choice_of(kernel, problem, limits)) found.push_back(std::move(*choice));
  }
  return found;
}

Result<PlannedSplit> choose_plan(const Problem& problem, const split::GpuLimits& limits,
                                 int num_splits) {
  std::vector<Choice> choices = runnable_kernels(problem, limits);
  if (choices.empty()) {
    return fail(ErrorKind::config, "no kernel for keys of ", problem.shape.query_width(),
                " and values of ", problem.shape.output_width(), " fits the ",
                limits.shared_bytes_per_cta, " bytes of shared memory of a CTA");
  }
  return planned(problem, limits, std::move(choices.front()), num_splits);
}

}  // namespace headsplit::kernels::per_head

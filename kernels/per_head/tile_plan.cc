#include "kernels/per_head/tile_plan.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "core/check.h"

namespace headsplit::kernels::per_head {
namespace {

/// What a tile takes beside its steps, in steps: queries come in, the first scores are waited for,
/// the output goes out.
constexpr double kTileSteps = 0.8;
constexpr double kShareOfL2 = 0.5;

/// Rounds in which the KV heads of a request are taken, so that the keys and values of one round
/// fit the share of L2.
int rounds_of(const RankProblem& shape, std::int32_t length, double l2_bytes) {
  const double head_bytes = 2.0 * (shape.d_nope + shape.d_rope + shape.d_v) * std::max(length, 1);
  const double fit = std::floor(kShareOfL2 * l2_bytes / head_bytes);
  return static_cast<int>(std::ceil(shape.kv_heads / std::max(fit, 1.0)));
}

/// The tiles of one request in the order in which they are given out.
void append_tiles(const Problem& problem, int request, const TileLimits& limits, TilePlan& plan,
                  std::vector<hopper::WorkItem>& tiles) {
  const RankProblem& shape = problem.shape;
  const int group_heads = shape.local_heads / shape.kv_heads;
  const int packed_rows = shape.query_tokens * group_heads;
  const int rounds = rounds_of(shape, problem.lengths[std::size_t(request)], limits.l2_bytes);
  for (int round = 0; round < rounds; ++round) {
    // Rounds of equal size: after a small last one few CTAs would still be at work.
    const int first = shape.kv_heads * round / rounds;
    const int end = shape.kv_heads * (round + 1) / rounds;
    for (int tile = plan.row_tiles - 1; tile >= 0; --tile) {
      const int row_begin = tile * plan.tile_rows;
      const int row_count = std::min(plan.tile_rows, packed_rows - row_begin);
      const int last_token = (row_begin + row_count - 1) / group_heads;
      for (int head = first; head < end; ++head) {
        tiles.push_back({.request = request,
                         .kv_head = head,
                         .row_begin = row_begin,
                         .row_count = row_count,
                         .token_begin = 0,
                         .token_end = problem.attended(request, last_token)});
      }
    }
  }
}

}  // namespace

TilePlan plan_tiles(const Problem& problem, const TileLimits& limits) {
  const RankProblem& shape = problem.shape;
  const int group_heads = shape.local_heads / shape.kv_heads;
  CHECK(group_heads >= 1 && group_heads <= limits.rows);
  TilePlan plan{
      .items = {}, .item_begin = {0}, .tile_rows = limits.rows / group_heads * group_heads};
  plan.row_tiles = (shape.query_tokens * group_heads + plan.tile_rows - 1) / plan.tile_rows;
  std::vector<hopper::WorkItem> tiles;
  for (int request = 0; request < shape.batch; ++request) {
    append_tiles(problem, request, limits, plan, tiles);
  }

  using LoadedCta = std::pair<double, int>;  // steps so far, index
  std::priority_queue<LoadedCta, std::vector<LoadedCta>, std::greater<>> least_loaded;
  for (int cta = 0; cta < limits.ctas; ++cta) least_loaded.push({0, cta});
  std::vector<std::vector<hopper::WorkItem>> of_cta(std::size_t(limits.ctas));
  for (const hopper::WorkItem& tile : tiles) {
    const auto [steps, cta] = least_loaded.top();
    least_loaded.pop();
    const int of_tile = (tile.token_end + limits.tokens - 1) / limits.tokens;
    least_loaded.push({steps + of_tile + kTileSteps, cta});
    of_cta[std::size_t(cta)].push_back(tile);
  }
  for (const auto& items : of_cta) {
    plan.items.insert(plan.items.end(), items.begin(), items.end());
    plan.item_begin.push_back(static_cast<std::int32_t>(plan.items.size()));
  }
  return plan;
}

}  // namespace headsplit::kernels::per_head

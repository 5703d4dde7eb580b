// Every layout computes the same attention: shards, real exchanges between the ranks, and the fp64
// reference of the whole problem.

#include <gtest/gtest.h>

#include <thread>

#include "core/check.h"
#include "kernels/kernel.h"
#include "kernels/mla_dense/reference.h"
#include "kernels/random_value.h"
#include "kernels/verify.h"
#include "tp/group/rank_attention.h"
#include "tp/group/rank_shard.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

using kernels::OutputRow;
using kernels::Problem;
using std::size_t;

constexpr int kProblems = 200;
constexpr int kPageTokens = 4;
constexpr int kHidden = 40;

/// A small problem drawn from its seed: up to 3 requests, 3 query tokens, 40 tokens of context.
Problem problem_of(std::uint64_t seed) {
  const auto drawn = [&](std::uint64_t index, int low, int high) {
    const auto bits = kernels::random_bits(seed, kernels::Tensor::length, 1000 + index);
    return low + static_cast<int>(bits % static_cast<std::uint64_t>(high - low + 1));
  };
  RankProblem shape;
  shape.local_heads = 4 * drawn(0, 1, 2);
  shape.batch = 2 * drawn(1, 1, 2);
  shape.query_tokens = drawn(2, 1, 3);
  shape.context = drawn(3, shape.query_tokens, 40);
  shape.d_latent = 16;
  shape.d_rope = 8;
  shape.lengths = drawn(4, 0, 1) == 0 ? Lengths::equal : Lengths::ragged;
  return kernels::make_problem(shape, seed, kPageTokens);
}

/// A rank of a layout in a thread of its own, and what it found.
struct RankRun {
  Problem shard;
  MergedRows merged;
  std::vector<OutputRow> rows;
  double projection_error = 0;
  std::string error;
};

Result<void> run_rank(const Problem& whole, const Layout& layout, PageOrder order, Merge merge,
                      Mesh& mesh, RankRun& run) {
  run.shard = rank_shard(whole, layout, mesh.rank(), order);
  const auto* entry = TRY(kernels::find_kernel("mla_dense", kernels::Backend::cpu));
  const auto kernel = TRY(entry->bind(run.shard, {.threads = 1}));
  MeshGroup context(mesh, context_members(layout, mesh.rank()));
  MeshGroup requests(mesh, request_members(layout, mesh.rank()));
  const RankGroups groups{.context = context.size() > 1 ? &context : nullptr,
                          .requests = requests.size() > 1 ? &requests : nullptr};
  const auto attention = TRY(host_rank_attention(*kernel, run.shard, groups, merge, kHidden));
  TRY(kernel->poison());
  TRY(kernel->launch(kernels::Part::all));
  TRY(attention->communicate());
  TRY(attention->project());
  TRY(attention->communicate());
  run.projection_error = TRY(attention->projection_error());
  run.merged = attention->merged();
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < run.merged.count; ++i) rows.push_back(run.merged.begin + i);
  run.rows = TRY(attention->output_rows(rows));
  return {};
}

std::vector<RankRun> run_layout(const Problem& whole, const Layout& layout, PageOrder order,
                                Merge merge) {
  std::vector<RankRun> runs(static_cast<size_t>(layout.ranks()));
  auto meshes = Mesh::in_process(layout.ranks());
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < runs.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const auto done = run_rank(whole, layout, order, merge, meshes[rank], runs[rank]);
      if (!done) runs[rank].error = done.error().message;
    });
  }
  return threads.clear(), runs;
}

/// Largest error of all rows over the tolerance; rows found are counted.
double worst_error(const Problem& whole, const std::vector<RankRun>& runs, std::int64_t& found) {
  const auto allowed = kernels::tolerance(KvDtype::bf16);
  double worst = 0;
  for (const RankRun& run : runs) {
    for (size_t i = 0; i < run.rows.size(); ++i) {
      const auto row = run.shard.source_row(run.merged.begin + std::int64_t(i));
      const auto reference = kernels::mla_dense_reference(whole, row);
      double square = 0;
      for (const double value : reference.values) square += value * value;
      const double share = allowed.of_row * std::sqrt(square / double(reference.values.size()));
      for (size_t d = 0; d < reference.values.size(); ++d) {
        const double difference = std::abs(run.rows[i].values[d] - reference.values[d]);
        const double limit = allowed.of_value * std::abs(reference.values[d]) + share;
        if (difference > 0 || std::isnan(difference)) worst = std::max(worst, difference / limit);
        CHECK(!std::isnan(difference));
      }
      if (run.rows[i].lse != static_cast<float>(reference.lse)) {
        worst = std::max(worst, std::abs(run.rows[i].lse - reference.lse) / allowed.lse_absolute);
      }
      ++found;
    }
  }
  return worst;
}

class Layouts : public testing::TestWithParam<Layout> {};

TEST_P(Layouts, ComputeTheSameAttentionAsOneRankInFp64) {
  const Layout layout = GetParam();
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= kProblems; ++seed) {
    const Problem whole = problem_of(seed);
    if (whole.shape.batch < layout.dp) continue;
    const auto order = seed % 2 == 0 ? PageOrder::interleaved : PageOrder::blocked;
    const auto merge = seed % 4 < 2 ? Merge::all_to_all : Merge::gather_scatter;
    const auto runs = run_layout(whole, layout, order, merge);
    std::int64_t found = 0;
    for (const RankRun& run : runs) {
      ASSERT_EQ(run.error, "") << "seed " << seed;
      ASSERT_LE(run.projection_error, 1) << "seed " << seed;
    }
    const double error = worst_error(whole, runs, found);
    ASSERT_LE(error, 1) << "seed " << seed << ", " << enum_name(order) << ", " << enum_name(merge);
    // Ranks of one tp x dp place hold their rows once between them.
    ASSERT_EQ(found, whole.rows()) << "seed " << seed;
    worst = std::max(worst, error);
  }
  RecordProperty("worst_over_tolerance", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Values(Layout{}, Layout{.tp = 2}, Layout{.tp = 4},
                                         Layout{.dp = 2}, Layout{.cp = 2}, Layout{.cp = 4},
                                         Layout{.tp = 2, .cp = 2}, Layout{.tp = 2, .dp = 2},
                                         Layout{.dp = 2, .cp = 2},
                                         Layout{.tp = 2, .dp = 2, .cp = 2}),
                         [](const auto& tested) { return layout_name(tested.param); });

TEST(RankShard, SharesOutEveryTokenOnce) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Problem whole = problem_of(seed);
    for (const auto order : {PageOrder::interleaved, PageOrder::blocked}) {
      std::int64_t tokens = 0;
      for (int rank = 0; rank < 3; ++rank) {
        tokens += rank_shard(whole, {.cp = 3}, rank, order).length_sum();
      }
      EXPECT_EQ(tokens, whole.length_sum());
    }
  }
}

}  // namespace
}  // namespace headsplit::tp

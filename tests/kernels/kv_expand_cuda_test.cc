#include "kernels/kv_expand/kv_expand_cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/device/pool.h"
#include "kernels/device/stream.h"
#include "kernels/per_head/reference.h"
#include "kernels/verify.h"

namespace headsplit::kernels {
namespace {

RankProblem shape_of(int heads) {
  return RankProblem{.local_heads = heads, .kv_heads = heads, .family = Family::kv_expand};
}

Problem problem_of(RankProblem shape, std::vector<std::int32_t> lengths, int page_tokens = 64) {
  shape.batch = static_cast<int>(lengths.size());
  shape.context = std::max(1, *std::max_element(lengths.begin(), lengths.end()));
  return make_problem(shape, std::move(lengths), 1, page_tokens);
}

/// Poisons, launches twice and verifies; gives the error's text, empty when all is well.
std::string run(const Problem& problem, std::int64_t rows_max) {
  const KernelEntry* entry = find_kernel("kv_expand", Backend::cuda).value();
  entry->supports(problem.shape).value();
  const Stream stream = Stream::make().value();
  DevicePool pool;
  const auto kernel = entry->bind(problem, {.stream = stream.get(), .pool = &pool}).value();
  for (int launch = 0; launch < 2; ++launch) {
    kernel->poison().value();
    kernel->launch(Part::all).value();
    const auto verified = verify(*kernel, problem, rows_max);
    if (!verified) return str(kernel->config().reason, ": ", verified.error().message);
  }
  return "";
}

TEST(KvExpandCuda, AgreesWithTheReferenceOnRaggedLengths) {
  for (const int heads : {1, 5, 16, 128}) {
    for (const auto& lengths :
         std::vector<std::vector<std::int32_t>>{{0}, {1, 1}, {20}, {140, 64}, {700, 333, 0, 65}}) {
      EXPECT_EQ(run(problem_of(shape_of(heads), lengths), heads == 128 ? 60 : 200), "")
          << heads << " heads, longest " << lengths[0];
    }
  }
}

TEST(KvExpandCuda, TakesMoreSlotsThanAChunkAndMoreChunksThanAreLaunchedOneByOne) {
  EXPECT_EQ(run(problem_of(shape_of(128), {8000, 2000, 500}), 200), "");
  EXPECT_EQ(run(problem_of(shape_of(8), {60'000, 100}), 200), "");
}

/// Attention of one query row over expanded K and V in fp64.
std::vector<double> attention(const std::vector<OutputRow>& tokens, const std::vector<float>& query,
                              int d_k, double scale) {
  double largest = -1e300;
  std::vector<double> scores;
  for (const OutputRow& token : tokens) {
    double dot = 0;
    for (int d = 0; d < d_k; ++d)
      dot += double(query[std::size_t(d)]) * token.values[std::size_t(d)];
    scores.push_back(scale * dot);
    largest = std::max(largest, scores.back());
  }
  double sum = 0;
  std::vector<double> output(tokens[0].values.size() - std::size_t(d_k));
  for (std::size_t j = 0; j < tokens.size(); ++j) {
    const double weight = std::exp(scores[j] - largest);
    sum += weight;
    for (std::size_t d = 0; d < output.size(); ++d) {
      output[d] += weight * tokens[j].values[std::size_t(d_k) + d];
    }
  }
  for (double& value : output) value /= sum;
  return output;
}

TEST(KvExpandCuda, WritesWhatAnAttentionReadsThatIsBoundToIt) {
  constexpr int kHeads = 6;
  const Stream stream = Stream::make().value();
  const Problem latent = problem_of(shape_of(kHeads), {200, 77});
  const auto expand = find_kernel("kv_expand", Backend::cuda)
                          .value()
                          ->bind(latent, {.stream = stream.get()})
                          .value();
  RankProblem shape = latent.shape;
  shape.family = Family::per_head;
  for (const int query_tokens : {1, 40}) {  // mma.sync, wgmma
    shape.query_tokens = query_tokens;
    const Problem problem = make_problem(shape, latent.lengths, 1);
    ASSERT_EQ(problem.page_table, latent.page_table);
    const auto attend =
        find_kernel("mla_expanded", Backend::cuda)
            .value()
            ->bind(problem, {.stream = stream.get(), .expanded = expand->expanded()})
            .value();
    expand->poison().value();
    attend->poison().value();
    expand->launch(Part::all).value();
    attend->launch(Part::all).value();
    // The last query token of the second request, head 4: it attends to all 77 tokens.
    const int head = 4;
    const std::int64_t row = (std::int64_t{2} * query_tokens - 1) * kHeads + head;
    std::vector<std::int64_t> tokens;
    for (int token = 0; token < 77; ++token) tokens.push_back((200 + token) * kHeads + head);
    const int d_k = shape.query_width();
    std::vector<float> query;
    for (int d = 0; d < d_k; ++d) query.push_back(per_head_query_value(problem, row * d_k + d));
    const auto expected =
        attention(expand->output_rows(tokens).value(), query, d_k, problem.softmax_scale);
    const auto got = attend->output_rows(std::vector{row}).value()[0].values;
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t d = 0; d < expected.size(); ++d) EXPECT_NEAR(got[d], expected[d], 0.01);
  }
}

TEST(KvExpandCuda, TakesPagesOfAnySize) {
  for (const int page_tokens : {16, 32, 128}) {
    EXPECT_EQ(run(problem_of(shape_of(3), {300, 17}, page_tokens), 0), "") << page_tokens;
  }
}

TEST(KvExpandCuda, TakesTheWidthsOfOtherModels) {
  struct Widths {
    int d_latent, d_rope, d_nope, d_v;
  };
  for (const Widths w :
       {Widths{256, 32, 64, 64}, {512, 64, 192, 256}, {512, 0, 128, 128}, {96, 24, 48, 80}}) {
    RankProblem shape = shape_of(4);
    shape.d_latent = w.d_latent;
    shape.d_rope = w.d_rope;
    shape.d_nope = w.d_nope;
    shape.d_v = w.d_v;
    EXPECT_EQ(run(problem_of(shape, {100, 1, 64}), 0), "") << w.d_latent << " latents";
  }
}

TEST(KvExpandCuda, ExpandsTheHeadsOfAShare) {
  RankProblem shape = shape_of(4);
  shape.context = 100;
  Problem share = make_problem(shape, 5);
  share.source = {.heads = 16, .kv_heads = 16, .first_head = 8, .first_request = 0, .pages = {}};
  EXPECT_EQ(run(share, 0), "");
}

TEST(KvExpandCuda, SaysWhichWidthsItDoesNotSupport) {
  RankProblem shape = shape_of(4);
  shape.d_rope = 20;
  EXPECT_EQ(kv_expand_cuda_supports(shape).error().message,
            "kv_expand on CUDA takes widths that are multiples of 8, not 20");
}

}  // namespace
}  // namespace headsplit::kernels

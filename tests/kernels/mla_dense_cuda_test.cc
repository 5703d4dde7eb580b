#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/verify.h"
#include "tests/kernels/sampled_rows.h"

namespace headsplit::kernels {
namespace {

std::unique_ptr<BoundKernel> bound(const Problem& problem, int num_splits = 0) {
  const KernelEntry* entry = find_kernel("mla_dense", Backend::cuda).value();
  entry->supports(problem.shape).value();
  auto kernel = entry->bind(problem, {.num_splits = num_splits}).value();
  kernel->poison().value();
  return kernel;
}

std::vector<OutputRow> all_rows(BoundKernel& kernel, const Problem& problem) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return kernel.output_rows(rows).value();
}

/// What is wrong with the outputs, or nothing: every value must have been written, and a sample of
/// rows must agree with the reference.
std::string fault(BoundKernel& kernel, const Problem& problem) {
  for (const OutputRow& row : all_rows(kernel, problem)) {
    if (std::isnan(row.lse)) return "an LSE was not written";
    for (const float value : row.values) {
      if (!std::isfinite(value)) return "a value was not written";
    }
  }
  const auto verified = verify(kernel, problem, sampled_rows(problem.shape.context));
  return verified ? "" : verified.error().message;
}

std::string run(const Problem& problem, int num_splits = 0) {
  const auto kernel = bound(problem, num_splits);
  kernel->launch(Part::all).value();
  return fault(*kernel, problem);
}

RankProblem shape_of(int heads, int query_tokens, std::int64_t context, Lengths lengths) {
  return RankProblem{.local_heads = heads,
                     .batch = lengths == Lengths::ragged ? 5 : 2,
                     .query_tokens = query_tokens,
                     .context = context,
                     .lengths = lengths};
}

class MlaDenseCudaHeads : public testing::TestWithParam<int> {};

/// With a plan by costs and, as that spreads the rows of so few requests, with the kernel for the
/// rows, which a fixed number of splits gets.
TEST_P(MlaDenseCudaHeads, AgreesWithTheReferenceForEveryLengthAndQueryTokens) {
  for (const int query_tokens : {1, 2, 4, 16}) {
    for (const int splits : {0, 2}) {
      for (const int context : {0, 1, 20, 140, 4096}) {
        const auto shape = shape_of(GetParam(), query_tokens, context, Lengths::equal);
        EXPECT_EQ(run(make_problem(shape, 3), splits), "")
            << query_tokens << " tokens, length " << context << ", " << splits << " splits";
      }
      const auto ragged = shape_of(GetParam(), query_tokens, 1500, Lengths::ragged);
      EXPECT_EQ(run(make_problem(ragged, 5), splits), "") << query_tokens << " tokens, ragged";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LocalHeads, MlaDenseCudaHeads,
                         testing::Values(1, 3, 8, 9, 12, 16, 20, 24, 40, 63, 64, 96, 126, 128));

TEST(MlaDenseCuda, ReadsPagesOfEverySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    for (const int heads : {8, 20, 128}) {
      const auto shape = shape_of(heads, 2, 700, Lengths::ragged);
      EXPECT_EQ(run(make_problem(shape, 7, page_tokens)), "")
          << "pages of " << page_tokens << ", " << heads << " heads";
    }
  }
}

TEST(MlaDenseCuda, AgreesWithTheReferenceHoweverTheContextIsSplit) {
  for (const int splits : {1, 2, 3, 7, 40, 1000}) {
    for (const int heads : {5, 30, 128}) {
      const auto shape = shape_of(heads, 2, 3000, Lengths::ragged);
      EXPECT_EQ(run(make_problem(shape, 11), splits), "") << splits << " splits, " << heads;
    }
  }
}

TEST(MlaDenseCuda, RunsEveryWidthThatItNames) {
  for (const auto& [d_latent, d_rope] : {std::pair{512, 64}, {512, 0}, {256, 32}}) {
    for (const int heads : {7, 16, 33, 128}) {
      auto shape = shape_of(heads, 2, 900, Lengths::ragged);
      shape.d_latent = d_latent;
      shape.d_rope = d_rope;
      EXPECT_EQ(run(make_problem(shape, 13)), "") << d_latent << " + " << d_rope << ", " << heads;
    }
  }
}

class MlaDenseCudaFp8 : public testing::TestWithParam<std::tuple<KvDtype, int>> {
 protected:
  static RankProblem fp8_shape(int query_tokens, std::int64_t context, Lengths lengths) {
    const auto [dtype, heads] = GetParam();
    RankProblem shape = shape_of(heads, query_tokens, context, lengths);
    shape.kv_dtype = dtype;
    return shape;
  }
};

TEST_P(MlaDenseCudaFp8, AgreesWithTheReferenceForEveryLengthAndQueryTokens) {
  for (const int query_tokens : {1, 2, 5}) {
    for (const int splits : {0, 3}) {
      for (const int context : {0, 1, 20, 140, 2000}) {
        const auto shape = fp8_shape(query_tokens, context, Lengths::equal);
        EXPECT_EQ(run(make_problem(shape, 43), splits), "")
            << query_tokens << " tokens, length " << context << ", " << splits << " splits";
      }
      const auto ragged = fp8_shape(query_tokens, 1500, Lengths::ragged);
      EXPECT_EQ(run(make_problem(ragged, 47), splits), "") << query_tokens << " tokens, ragged";
    }
  }
}

TEST_P(MlaDenseCudaFp8, ReadsPagesOfEverySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    const auto shape = fp8_shape(2, 700, Lengths::ragged);
    EXPECT_EQ(run(make_problem(shape, 53, page_tokens)), "") << "pages of " << page_tokens;
  }
}

TEST_P(MlaDenseCudaFp8, KeepsItsAccuracyWhenScoresAreFarApart) {
  auto problem = make_problem(fp8_shape(1, 2000, Lengths::equal), 59);
  problem.softmax_scale *= 16;
  EXPECT_EQ(run(problem), "");
}

INSTANTIATE_TEST_SUITE_P(LocalHeads, MlaDenseCudaFp8,
                         testing::Combine(testing::Values(KvDtype::fp8, KvDtype::fp8_tensor),
                                          testing::Values(1, 5, 8, 16, 20, 33, 40, 64, 96, 128)));

TEST(MlaDenseCuda, TakesManyQueryTokens) {
  for (const int query_tokens : {17, 100, 256}) {
    for (const int heads : {8, 20, 128}) {
      const auto shape = shape_of(heads, query_tokens, 600, Lengths::ragged);
      EXPECT_EQ(run(make_problem(shape, 41)), "") << query_tokens << " tokens, " << heads;
      EXPECT_EQ(run(make_problem(shape, 41), 2), "") << query_tokens << " tokens, 2 splits";
    }
  }
}

TEST(MlaDenseCuda, QueryTokensAttendToWhatTheProblemSaysWhereTheContextIsSharedOut) {
  for (const int heads : {8, 20, 128}) {
    auto problem = make_problem(shape_of(heads, 4, 700, Lengths::ragged), 37);
    for (const std::int32_t length : problem.lengths) {
      for (const int quarters : {0, 1, 1, 4}) problem.ends.push_back(length * quarters / 4);
    }
    EXPECT_EQ(run(problem), "") << heads << " heads";
    EXPECT_EQ(run(problem, 3), "") << heads << " heads, 3 splits";
  }
}

TEST(MlaDenseCuda, KeepsItsAccuracyWhenScoresAreFarApart) {
  for (const int heads : {16, 32, 64}) {
    auto problem = make_problem(shape_of(heads, 1, 2000, Lengths::equal), 17);
    problem.softmax_scale *= 16;  // scores up to about 100: references move often
    EXPECT_EQ(run(problem), "") << heads << " heads";
  }
}

TEST(MlaDenseCuda, SplitAndCombineApartGiveWhatTheyGiveTogether) {
  const auto problem = make_problem(shape_of(24, 1, 2048, Lengths::equal), 19);
  const auto kernel = bound(problem, 4);
  EXPECT_EQ(kernel->config().num_splits, 4);
  kernel->launch(Part::split).value();
  kernel->launch(Part::combine).value();
  EXPECT_EQ(fault(*kernel, problem), "");
}

TEST(MlaDenseCuda, OneFixedNumberOfSplitsGivesARequestTheSameBitsInAnyBatch) {
  const RankProblem alone{.local_heads = 16, .batch = 1, .context = 1000};
  RankProblem many = alone;
  many.batch = 6;
  // Request 0 of both has the same query; its cache is what differs, so give both the same pages.
  Problem small = make_problem(alone, 23);
  Problem large = make_problem(many, 23);
  std::copy(large.page_table.begin(), large.page_table.begin() + small.pages_per_request,
            small.page_table.begin());
  small.page_count = large.page_count;
  const auto first = bound(small, 3);
  const auto second = bound(large, 3);
  first->launch(Part::all).value();
  second->launch(Part::all).value();
  for (std::int64_t row = 0; row < small.rows(); ++row) {
    const std::vector<std::int64_t> wanted{row};
    const auto in_small = first->output_rows(wanted).value().front();
    const auto in_large = second->output_rows(wanted).value().front();
    ASSERT_EQ(in_small.values, in_large.values) << "row " << row;
    ASSERT_EQ(in_small.lse, in_large.lse) << "row " << row;
  }
}

TEST(MlaDenseCuda, SaysHowItRunsAndWhatItPads) {
  const auto kernel = bound(make_problem(shape_of(20, 1, 256, Lengths::equal), 1));
  EXPECT_EQ(kernel->config().padded_rows, 12);
  EXPECT_EQ(kernel->config().tile_rows % 16, 0);
  EXPECT_GT(kernel->config().workers, 0);
  EXPECT_NE(kernel->config().reason.find("for 20 packed rows"), std::string::npos);
}

TEST(MlaDenseCuda, NamesARowThatThereIsNot) {
  const auto kernel = bound(make_problem(shape_of(4, 1, 64, Lengths::equal), 1));
  const std::vector<std::int64_t> beyond{8};
  const auto refused = kernel->output_rows(beyond);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "output row 8 is not in 0..7");
}

}  // namespace
}  // namespace headsplit::kernels

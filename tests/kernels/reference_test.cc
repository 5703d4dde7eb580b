#include "kernels/mla_dense/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/e4m3.h"

namespace headsplit::kernels {
namespace {

/// Small enough to compute by hand beside the reference.
RankProblem tiny(int query_tokens, std::int64_t context) {
  return RankProblem{.local_heads = 2,
                     .batch = 1,
                     .query_tokens = query_tokens,
                     .context = context,
                     .d_latent = 4,
                     .d_rope = 2,
                     .d_nope = 3};
}

double score(const Problem& problem, int row, int token) {
  double dot = 0;
  for (int d = 0; d < 6; ++d) {
    dot += double(query_value(problem, row * 6 + d)) *
           cache_value(problem, problem.page_table[0], token, d);
  }
  return dot / std::sqrt(5.0);
}

TEST(Reference, OfOneTokenIsThatTokensLatentAndItsScore) {
  const Problem problem = make_problem(tiny(1, 1), 1);
  const ReferenceRow row = mla_dense_reference(problem, 1);
  ASSERT_EQ(row.values.size(), 4u);
  for (int d = 0; d < 4; ++d) {
    EXPECT_NEAR(row.values[std::size_t(d)], cache_value(problem, problem.page_table[0], 0, d),
                1e-12);
  }
  EXPECT_NEAR(row.lse, score(problem, 1, 0), 1e-6);
}

TEST(Reference, OfTwoTokensIsTheirSoftmaxMean) {
  const Problem problem = make_problem(tiny(1, 2), 1);
  const ReferenceRow row = mla_dense_reference(problem, 0);
  const double first = std::exp(score(problem, 0, 0));
  const double second = std::exp(score(problem, 0, 1));
  EXPECT_NEAR(row.lse, std::log(first + second), 1e-6);
  for (int d = 0; d < 4; ++d) {
    const double mean = (first * cache_value(problem, problem.page_table[0], 0, d) +
                         second * cache_value(problem, problem.page_table[0], 1, d)) /
                        (first + second);
    EXPECT_NEAR(row.values[std::size_t(d)], mean, 1e-6);
  }
}

TEST(Reference, OfARowThatAttendsToNothingIsZeroAndMinusInfinity) {
  const Problem problem = make_problem(tiny(2, 1), 1);
  const ReferenceRow first_token = mla_dense_reference(problem, 0);
  EXPECT_EQ(first_token.values, std::vector<double>(4, 0.0));
  EXPECT_EQ(first_token.lse, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(mla_dense_reference(problem, 2).lse));
}

TEST(Reference, ReadsAnFp8CacheAtItsPrecision) {
  RankProblem shape{.context = 1};
  shape.kv_dtype = KvDtype::fp8;
  const Problem eight_bits = make_problem(shape, 1);
  shape.kv_dtype = KvDtype::bf16;
  const Problem sixteen_bits = make_problem(shape, 1);
  double difference = 0;
  for (int d = 0; d < 512; ++d) {
    const double exact = cache_value(sixteen_bits, 0, 0, d);
    const double rounded = cache_value(eight_bits, 0, 0, d);
    EXPECT_NEAR(rounded, exact, std::abs(exact) / 16 + 1.0 / 128);
    difference += std::abs(rounded - exact);
  }
  EXPECT_GT(difference, 1);
  EXPECT_EQ(cache_value(eight_bits, 0, 0, 512), cache_value(sixteen_bits, 0, 0, 512));
}

TEST(Reference, ReadsAnFp8CacheOfOneScaleAsE4m3TimesIt) {
  RankProblem shape{.context = 1};
  shape.kv_dtype = KvDtype::fp8_tensor;
  const Problem eight_bits = make_problem(shape, 1);
  shape.kv_dtype = KvDtype::bf16;
  const Problem sixteen_bits = make_problem(shape, 1);
  const float scale = fp8_tensor_scale(1);
  for (int d = 0; d < 576; ++d) {
    const double exact = cache_value(sixteen_bits, 0, 0, d);
    const float rounded = cache_value(eight_bits, 0, 0, d);
    EXPECT_NEAR(rounded, exact, std::abs(exact) / 16 + 1.0 / 128);
    EXPECT_EQ(e4m3_value(e4m3_bits(rounded / scale)) * scale, rounded);
  }
}

}  // namespace
}  // namespace headsplit::kernels

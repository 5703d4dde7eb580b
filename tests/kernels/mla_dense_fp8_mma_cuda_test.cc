#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/verify.h"
#include "tests/kernels/sampled_rows.h"

namespace headsplit::kernels {
namespace {

/// The kernel with products in FP8, which Hopper alone has.
class MlaDenseFp8Mma : public testing::Test {
 protected:
  void SetUp() override {
    cudaDeviceProp gpu{};
    ASSERT_EQ(cudaGetDeviceProperties(&gpu, 0), cudaSuccess);
    if (gpu.major != 9) GTEST_SKIP() << "wgmma is Hopper's";
  }

  static RankProblem shape_of(int heads, int query_tokens, std::int64_t context, Lengths lengths) {
    return RankProblem{.local_heads = heads,
                       .batch = lengths == Lengths::ragged ? 5 : 2,
                       .query_tokens = query_tokens,
                       .context = context,
                       .kv_dtype = KvDtype::fp8_tensor,
                       .lengths = lengths};
  }

  static std::unique_ptr<BoundKernel> bound(const Problem& problem, int num_splits = 0) {
    const KernelEntry* entry = find_kernel("mla_dense_fp8_mma", Backend::cuda).value();
    entry->supports(problem.shape).value();
    auto kernel = entry->bind(problem, {.num_splits = num_splits}).value();
    kernel->poison().value();
    return kernel;
  }

  /// What is wrong with the outputs, or nothing.
  static std::string run(const Problem& problem, int num_splits = 0) {
    const auto kernel = bound(problem, num_splits);
    kernel->launch(Part::all).value();
    std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    for (const OutputRow& row : kernel->output_rows(rows).value()) {
      if (std::isnan(row.lse)) return "an LSE was not written";
      for (const float value : row.values) {
        if (!std::isfinite(value)) return "a value was not written";
      }
    }
    const auto verified = verify(*kernel, problem, sampled_rows(problem.shape.context));
    return verified ? "" : verified.error().message;
  }
};

TEST_F(MlaDenseFp8Mma, AgreesWithTheReferenceForEveryLengthAndQueryTokens) {
  for (const int heads : {1, 16, 40, 64, 128}) {
    for (const int query_tokens : {1, 2, 5}) {
      for (const int splits : {0, 3}) {
        const std::string of = str(heads, " heads, ", query_tokens, " tokens, ", splits, " splits");
        for (const int context : {0, 1, 20, 64, 140, 2000}) {
          const auto shape = shape_of(heads, query_tokens, context, Lengths::equal);
          EXPECT_EQ(run(make_problem(shape, 43), splits), "") << of << ", length " << context;
        }
        const auto ragged = shape_of(heads, query_tokens, 1500, Lengths::ragged);
        EXPECT_EQ(run(make_problem(ragged, 47), splits), "") << of << ", ragged";
      }
    }
  }
}

TEST_F(MlaDenseFp8Mma, ReadsPagesOfEverySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    const auto shape = shape_of(40, 2, 700, Lengths::ragged);
    EXPECT_EQ(run(make_problem(shape, 53, page_tokens)), "") << "pages of " << page_tokens;
  }
}

/// More items than CTAs, and CTAs whose items are short: the groups that make weights take turns
/// over the ends of items.
TEST_F(MlaDenseFp8Mma, GoesFromItemToItemOfAnyLength) {
  auto shape = shape_of(24, 1, 200, Lengths::ragged);
  shape.batch = 400;
  EXPECT_EQ(run(make_problem(shape, 61)), "");
  EXPECT_EQ(run(make_problem(shape, 67), 2), "");
}

/// Long runs are added up in device memory, whose rows' references rise meanwhile.
TEST_F(MlaDenseFp8Mma, AddsUpLongRuns) {
  const auto shape = shape_of(40, 1, 12'500, Lengths::equal);
  EXPECT_EQ(run(make_problem(shape, 71), 1), "");
  const auto ragged = shape_of(64, 2, 9'000, Lengths::ragged);
  EXPECT_EQ(run(make_problem(ragged, 73), 1), "");
}

TEST_F(MlaDenseFp8Mma, SaysWhatCacheItReads) {
  auto shape = shape_of(64, 1, 100, Lengths::equal);
  shape.kv_dtype = KvDtype::fp8;
  const auto refused = find_kernel("mla_dense_fp8_mma", Backend::cuda).value()->supports(shape);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("fp8_tensor"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace headsplit::kernels

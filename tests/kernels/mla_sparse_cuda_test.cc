#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/reference_cuda.h"
#include "kernels/verify.h"
#include "tests/kernels/sparse_problem.h"

namespace headsplit::kernels {
namespace {

std::unique_ptr<BoundKernel> bound(const Problem& problem, int num_splits = 0) {
  const KernelEntry* entry = find_kernel("mla_sparse", Backend::cuda).value();
  entry->supports(problem.shape).value();
  auto kernel = entry->bind(problem, {.num_splits = num_splits}).value();
  kernel->poison().value();
  return kernel;
}

/// What is wrong with the outputs, or nothing: every value must have been written, and rows must
/// agree with the fp64 reference made on the GPU.
std::string fault(BoundKernel& kernel, const Problem& problem, std::int64_t rows_max) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  for (const OutputRow& row : kernel.output_rows(rows).value()) {
    if (std::isnan(row.lse)) return "an LSE was not written";
    for (const float value : row.values) {
      if (!std::isfinite(value)) return "a value was not written";
    }
  }
  const auto reference = make_reference(
      problem, rows_max, [](const Problem& wanted, std::span<const std::int64_t> of_rows) {
        return reference_rows_cuda(wanted, of_rows, nullptr);
      });
  const auto verified = verify(kernel, problem, reference.value());
  return verified ? "" : verified.error().message;
}

std::string run(const Problem& problem, int num_splits = 0, std::int64_t rows_max = 64) {
  const auto kernel = bound(problem, num_splits);
  kernel->launch(Part::all).value();
  return fault(*kernel, problem, rows_max);
}

class MlaSparseCuda : public testing::TestWithParam<std::tuple<KvDtype, int>> {
 protected:
  KvDtype kv_dtype() const { return std::get<0>(GetParam()); }
  int heads() const { return std::get<1>(GetParam()); }
};

/// With a plan by costs, and with fixed splits, which gets the kernel for the heads.
TEST_P(MlaSparseCuda, AgreesWithTheReferenceForAnyListAndQueryTokens) {
  for (const int query_tokens : {1, 2, 4}) {
    for (const int top_k : {64, 512, 2048, 4096}) {
      for (const int bad_one_of : {0, 3}) {
        for (const int splits : {0, 2}) {
          Problem problem = sparse_problem({.heads = heads(),
                                            .batch = 4,
                                            .query_tokens = query_tokens,
                                            .context = 3000,
                                            .top_k = top_k,
                                            .kv_dtype = kv_dtype(),
                                            .lengths = Lengths::ragged});
          if (bad_one_of > 0) spoil(problem, bad_one_of);
          EXPECT_EQ(run(problem, splits), "")
              << query_tokens << " query tokens, k " << top_k << ", one bad of " << bad_one_of
              << ", " << splits << " splits";
        }
      }
    }
  }
}

TEST_P(MlaSparseCuda, GivesZeroAndMinusInfinityWhereNothingCounts) {
  Problem problem = sparse_problem({.heads = heads(), .top_k = 512, .kv_dtype = kv_dtype()});
  std::fill(problem.indices.begin(), problem.indices.begin() + 512, -1);
  EXPECT_EQ(run(problem), "");
  problem.top_k_lengths[1] = 0;
  EXPECT_EQ(run(problem), "");
  problem.sinks.assign(static_cast<std::size_t>(heads()), 0.5f);
  EXPECT_EQ(run(problem), "");
}

TEST_P(MlaSparseCuda, FindsTheFewEntriesThatCount) {
  Problem problem = sparse_problem({.heads = heads(), .top_k = 700, .kv_dtype = kv_dtype()});
  const std::vector<std::int32_t> slots = problem.indices;
  std::fill(problem.indices.begin(), problem.indices.end(), 1 << 30);
  for (const std::size_t at : {std::size_t{63}, std::size_t{200}, std::size_t{555}}) {
    problem.indices[at] = slots[at];
  }
  problem.indices[700 + 599] = slots[0];  // of another request
  problem.top_k_lengths = {600, 600};
  EXPECT_EQ(run(problem, 0, 0), "");
  EXPECT_EQ(run(problem, 4, 0), "");
}

TEST_P(MlaSparseCuda, AppliesSinksHoweverItSplits) {
  for (const int splits : {0, 1, 5}) {
    Problem problem = sparse_problem({.heads = heads(),
                                      .query_tokens = 2,
                                      .context = 1000,
                                      .top_k = 800,
                                      .kv_dtype = kv_dtype()});
    for (int head = 0; head < heads(); ++head) {
      problem.sinks.push_back(static_cast<float>(head % 16) / 2 - 3);
    }
    EXPECT_EQ(run(problem, splits), "") << splits;
  }
}

TEST_P(MlaSparseCuda, KeepsItsAccuracyWhenScoresAreFarApart) {
  Problem problem =
      sparse_problem({.heads = heads(), .context = 2500, .top_k = 2048, .kv_dtype = kv_dtype()});
  problem.softmax_scale *= 16;
  EXPECT_EQ(run(problem), "");
}

INSTANTIATE_TEST_SUITE_P(CachesAndHeads, MlaSparseCuda,
                         testing::Combine(testing::Values(KvDtype::bf16, KvDtype::fp8),
                                          testing::Values(8, 12, 16, 20, 40, 64, 128)));

TEST(MlaSparseCudaKernel, SplitAndCombineApartGiveWhatTheyGiveTogether) {
  const Problem problem =
      sparse_problem({.context = 2048, .top_k = 1024, .kv_dtype = KvDtype::fp8});
  const auto kernel = bound(problem, 4);
  EXPECT_EQ(kernel->config().num_splits, 4);
  kernel->launch(Part::split).value();
  kernel->launch(Part::combine).value();
  EXPECT_EQ(fault(*kernel, problem, 0), "");
}

TEST(MlaSparseCudaKernel, SaysWhyItCannot) {
  const KernelEntry* entry = find_kernel("mla_sparse", Backend::cuda).value();
  RankProblem shape = sparse_shape({});
  shape.d_latent = 256;
  EXPECT_EQ(entry->supports(shape).error().message,
            "mla_sparse on CUDA has d_latent + d_rope of 512 + 64 for a bf16 cache, not 256 + 64");
  EXPECT_EQ(entry->supports(sparse_shape({.kv_dtype = KvDtype::fp8_tensor})).error().message,
            "mla_sparse on CUDA reads no fp8_tensor cache; legal: bf16, fp8");
}

TEST(ReferenceCuda, OfListsAgreesWithTheOneOnTheCpu) {
  Problem problem = sparse_problem({.heads = 5, .query_tokens = 2, .kv_dtype = KvDtype::fp8});
  spoil(problem, 3);
  problem.sinks.assign(5, 1.0f);
  const std::vector<std::int64_t> rows{0, 3, 7, 19};
  const auto found = reference_rows_cuda(problem, rows, nullptr).value();
  const auto wanted = reference_rows(problem, rows).value();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(found[i].lse, wanted[i].lse, 1e-9);
    for (std::size_t d = 0; d < 512; ++d) {
      ASSERT_NEAR(found[i].values[d], wanted[i].values[d], 1e-9);
    }
  }
}

}  // namespace
}  // namespace headsplit::kernels

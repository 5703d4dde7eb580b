#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/reference_cuda.h"
#include "kernels/verify.h"

namespace headsplit::kernels {
namespace {

/// Rows of a problem that are compared with the reference.
constexpr std::int64_t kRowsChecked = 96;

struct Heads {
  int query = 8;
  int kv = 8;
};

struct Width {
  int d_k = 128;
  int d_v = 128;
};

constexpr Width kWidths[] = {{64, 64}, {80, 80}, {128, 128}, {192, 128}, {256, 256}, {96, 240}};

const char* kernel_for(const Heads& heads) {
  if (heads.kv == heads.query) return "mha_decode";
  return heads.kv == 1 ? "mqa_decode" : "gqa_decode";
}

RankProblem shape_of(const Heads& heads, const Width& width, int query_tokens, int context,
                     Lengths lengths = Lengths::ragged) {
  return RankProblem{.local_heads = heads.query,
                     .kv_heads = heads.kv,
                     .batch = lengths == Lengths::ragged ? 5 : 2,
                     .query_tokens = query_tokens,
                     .context = context,
                     .d_rope = 16,
                     .d_nope = width.d_k - 16,
                     .d_v = width.d_v,
                     .lengths = lengths,
                     .family = Family::per_head};
}

std::unique_ptr<BoundKernel> bound(const Problem& problem, int num_splits = 0) {
  const RankProblem& shape = problem.shape;
  const char* name = kernel_for({shape.local_heads, shape.kv_heads});
  const KernelEntry* entry = find_kernel(name, Backend::cuda).value();
  entry->supports(shape).value();
  auto kernel = entry->bind(problem, {.num_splits = num_splits}).value();
  kernel->poison().value();
  return kernel;
}

/// What is wrong with the outputs, or nothing: every value must have been written, and a sample of
/// rows must agree with the reference.
std::string fault(BoundKernel& kernel, const Problem& problem) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const auto outputs = kernel.output_rows(rows).value();
  for (std::size_t row = 0; row < outputs.size(); ++row) {
    if (std::isnan(outputs[row].lse)) return str("the LSE of row ", row, " was not written");
    for (const float value : outputs[row].values) {
      if (!std::isfinite(value)) return str("a value of row ", row, " was not written");
    }
  }
  const auto reference = make_reference(problem, kRowsChecked, [](const Problem& of, auto wanted) {
                           return reference_rows_cuda(of, wanted, nullptr);
                         }).value();
  const auto verified = verify(kernel, problem, reference);
  return verified ? "" : verified.error().message;
}

std::string run(const Problem& problem, int num_splits = 0) {
  const auto kernel = bound(problem, num_splits);
  kernel->launch(Part::all).value();
  const std::string wrong = fault(*kernel, problem);
  return wrong.empty() ? "" : wrong + " [" + kernel->config().reason + "]";
}

std::string text_of(const Heads& heads, const Width& width, int query_tokens) {
  return str(heads.query, "/", heads.kv, " heads, ", width.d_k, "/", width.d_v, ", ", query_tokens,
             " query tokens");
}

class PerHeadCuda : public testing::TestWithParam<Heads> {};

TEST_P(PerHeadCuda, AgreesWithTheReferenceForEveryWidthAndNumberOfQueryTokens) {
  for (const Width& width : kWidths) {
    for (const int query_tokens : {1, 2, 4, 7, 16}) {
      const auto shape = shape_of(GetParam(), width, query_tokens, 700);
      EXPECT_EQ(run(make_problem(shape, 3)), "") << text_of(GetParam(), width, query_tokens);
    }
  }
}

TEST_P(PerHeadCuda, AgreesWithTheReferenceForEveryLength) {
  for (const Width& width : {Width{64, 64}, Width{128, 128}, Width{192, 128}}) {
    for (const int context : {0, 1, 15, 16, 17, 64, 129, 3000}) {
      const auto shape = shape_of(GetParam(), width, 3, context, Lengths::equal);
      EXPECT_EQ(run(make_problem(shape, 5)), "")
          << text_of(GetParam(), width, 3) << ", length " << context;
    }
  }
}

TEST_P(PerHeadCuda, AgreesWithTheReferenceHoweverTheContextIsSplit) {
  for (const Width& width : {Width{80, 80}, Width{128, 128}, Width{192, 128}}) {
    for (const int splits : {1, 2, 3, 13, 1000}) {
      for (const int query_tokens : {1, 5, 40}) {
        const auto shape = shape_of(GetParam(), width, query_tokens, 1300);
        EXPECT_EQ(run(make_problem(shape, 7), splits), "")
            << text_of(GetParam(), width, query_tokens) << ", " << splits << " splits";
      }
    }
  }
}

TEST_P(PerHeadCuda, ReadsPagesOfEverySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    for (const Width& width : {Width{64, 64}, Width{192, 128}, Width{256, 256}}) {
      for (const int query_tokens : {1, 24}) {
        const auto shape = shape_of(GetParam(), width, query_tokens, 500);
        EXPECT_EQ(run(make_problem(shape, 11, page_tokens)), "")
            << text_of(GetParam(), width, query_tokens) << ", pages of " << page_tokens;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(HeadsAndKvHeads, PerHeadCuda,
                         testing::Values(Heads{8, 8}, Heads{28, 4}, Heads{71, 1}, Heads{32, 8},
                                         Heads{5, 5}));

TEST(PerHeadCudaPrefill, IsCausalOverAllQueryTokens) {
  for (const Width& width : {Width{128, 128}, Width{192, 128}, Width{256, 256}, Width{96, 64}}) {
    for (const int tokens : {65, 300, 1111}) {
      auto shape = shape_of({6, 3}, width, tokens, tokens, Lengths::equal);
      EXPECT_EQ(run(make_problem(shape, 13)), "") << text_of({6, 3}, width, tokens);
      shape.lengths = Lengths::ragged;
      shape.batch = 4;
      EXPECT_EQ(run(make_problem(shape, 17)), "") << text_of({6, 3}, width, tokens) << ", ragged";
    }
  }
}

TEST(PerHeadCudaMask, QueryTokensAttendToWhatTheProblemSays) {
  for (const Heads& heads : {Heads{4, 4}, Heads{28, 4}, Heads{71, 1}}) {
    for (const bool causal : {false, true}) {
      auto problem = make_problem(shape_of(heads, {128, 128}, 4, 700), 37);
      for (const std::int32_t length : problem.lengths) {
        for (const int quarters : {0, 1, 1, 4}) {
          problem.ends.push_back(causal ? length * quarters / 4 : length);
        }
      }
      EXPECT_EQ(run(problem), "") << heads.query << " heads";
      EXPECT_EQ(run(problem, 3), "") << heads.query << " heads, 3 splits";
    }
  }
}

TEST(PerHeadCudaShard, HasTheValuesOfTheWholeProblem) {
  auto shard = make_problem(shape_of({8, 2}, {128, 128}, 2, 300), 5);
  shard.source = {.heads = 32, .kv_heads = 8, .first_head = 16, .first_request = 3, .pages = {}};
  for (std::int64_t page = 0; page < shard.page_count; ++page) {
    shard.source.pages.push_back(static_cast<std::int32_t>(3 * page + 1));
  }
  EXPECT_EQ(run(shard), "");
}

TEST(PerHeadCudaAccuracy, StaysWhenScoresAreFarApart) {
  for (const int query_tokens : {1, 40}) {
    auto problem = make_problem(shape_of({8, 4}, {128, 128}, query_tokens, 2000), 17);
    problem.softmax_scale *= 16;  // references move often
    EXPECT_EQ(run(problem), "") << query_tokens << " query tokens";
  }
}

TEST(PerHeadCudaLaunch, SplitAndCombineApartGiveWhatTheyGiveTogether) {
  const auto problem = make_problem(shape_of({28, 4}, {128, 128}, 2, 2048, Lengths::equal), 19);
  const auto kernel = bound(problem, 4);
  EXPECT_EQ(kernel->config().num_splits, 4);
  kernel->launch(Part::split).value();
  kernel->launch(Part::combine).value();
  EXPECT_EQ(fault(*kernel, problem), "");
}

TEST(PerHeadCudaLaunch, GivesTheSameBitsEveryTime) {
  const auto problem = make_problem(shape_of({28, 4}, {128, 128}, 1, 3000), 23);
  const auto kernel = bound(problem);
  const std::vector<std::int64_t> rows{0, 27, 100};
  kernel->launch(Part::all).value();
  const auto first = kernel->output_rows(rows).value();
  for (int again = 0; again < 20; ++again) {
    kernel->poison().value();
    kernel->launch(Part::all).value();
    const auto next = kernel->output_rows(rows).value();
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(next[i].values, first[i].values);
  }
}

TEST(PerHeadCudaConfig, SaysHowItRunsAndWhatItPads) {
  const auto kernel = bound(make_problem(shape_of({28, 4}, {128, 128}, 1, 256), 1));
  EXPECT_EQ(kernel->config().padded_rows, 4 * 9);
  EXPECT_EQ(kernel->config().tile_rows, 16);
  EXPECT_NE(kernel->config().reason.find("for 7 packed rows"), std::string::npos)
      << kernel->config().reason;
}

TEST(PerHeadReferenceCuda, IsThatOfTheCpuUpToTheOrderOfSums) {
  auto problem = make_problem(shape_of({6, 2}, {80, 64}, 3, 300), 7);
  problem.source = {.heads = 12, .kv_heads = 4, .first_head = 6, .first_request = 1, .pages = {}};
  for (std::int64_t page = 0; page < problem.page_count; ++page) {
    problem.source.pages.push_back(static_cast<std::int32_t>(2 * page + 1));
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const auto wanted = reference_rows(problem, rows).value();
  const auto got = reference_rows_cuda(problem, rows, nullptr).value();
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::isinf(wanted[i].lse)) {
      EXPECT_EQ(got[i].lse, wanted[i].lse);
    } else {
      EXPECT_NEAR(got[i].lse, wanted[i].lse, 1e-12);
    }
    ASSERT_EQ(got[i].values.size(), wanted[i].values.size());
    for (std::size_t d = 0; d < wanted[i].values.size(); ++d) {
      ASSERT_NEAR(got[i].values[d], wanted[i].values[d], 1e-12) << "row " << i;
    }
  }
}

}  // namespace
}  // namespace headsplit::kernels

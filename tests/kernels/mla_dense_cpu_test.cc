#include <gtest/gtest.h>

#include "kernels/verify.h"

namespace headsplit::kernels {
namespace {

/// Poisons, launches and verifies; gives the error's text, empty when all is well.
std::string run(const Problem& problem, BindOptions options, std::int64_t rows_max) {
  const KernelEntry* entry = find_kernel("mla_dense", Backend::cpu).value();
  auto kernel = entry->bind(problem, options).value();
  kernel->poison().value();
  kernel->launch(Part::all).value();
  const auto verified = verify(*kernel, problem, rows_max);
  return verified ? "" : verified.error().message;
}

TEST(MlaDenseCpu, AgreesWithTheReferenceForRaggedLengthsAndAnySplit) {
  for (const int heads : {1, 16, 63}) {
    for (const int splits : {0, 1, 2, 7}) {
      const RankProblem shape{.local_heads = heads,
                              .batch = 4,
                              .query_tokens = 2,
                              .context = 600,
                              .lengths = Lengths::ragged};
      const Problem problem = make_problem(shape, 3);
      EXPECT_EQ(run(problem, {.num_splits = splits}, 6), "") << heads << " heads, " << splits;
    }
  }
}

}  // namespace
}  // namespace headsplit::kernels

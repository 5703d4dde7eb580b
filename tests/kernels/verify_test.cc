#include "kernels/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/mla_dense/reference.h"

namespace headsplit::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A kernel that answers with the reference, changed at will.
class FakeKernel final : public BoundKernel {
 public:
  using Change = std::function<void(std::int64_t row, OutputRow& output)>;

  FakeKernel(Problem problem, Change change)
      : problem_(std::move(problem)), change_(std::move(change)) {}

  const Config& config() const override { return config_; }
  Arithmetic arithmetic() const override { return products; }
  Result<void> poison() override { return {}; }
  Result<void> launch(Part) override { return {}; }
  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    std::vector<OutputRow> outputs;
    for (const std::int64_t row : rows) {
      const ReferenceRow reference = mla_dense_reference(problem_, row);
      OutputRow output;
      for (const double value : reference.values) {
        output.values.push_back(static_cast<float>(value));
      }
      output.lse = static_cast<float>(reference.lse);
      change_(row, output);
      outputs.push_back(output);
      asked.push_back(row);
    }
    return outputs;
  }

  std::vector<std::int64_t> asked;
  Arithmetic products = Arithmetic::stored;

 private:
  Problem problem_;
  Change change_;
  Config config_;
};

float rms(const std::vector<float>& values) {
  float square = 0;
  for (const float value : values) square += value * value;
  return std::sqrt(square / static_cast<float>(values.size()));
}

Problem some_problem() {
  return make_problem(RankProblem{.local_heads = 5, .batch = 3, .query_tokens = 2, .context = 300},
                      {300, 1, 0}, 1);
}

Result<Verification> verify_changed(const FakeKernel::Change& change, std::int64_t rows_max = 0) {
  FakeKernel kernel(some_problem(), change);
  return verify(kernel, some_problem(), rows_max);
}

TEST(Verify, AcceptsTheReferenceRoundedToFloat) {
  const auto verified = verify_changed([](std::int64_t, OutputRow&) {});
  ASSERT_TRUE(verified.has_value()) << verified.error().message;
  EXPECT_EQ(verified->rows_checked, 30);
  EXPECT_LT(verified->worst, 0.1);
}

TEST(Verify, CatchesOneWrongValueAndNamesItsRow) {
  const auto verified = verify_changed([](std::int64_t row, OutputRow& output) {
    if (row == 7) output.values[100] += 0.02f;
  });
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().kind, ErrorKind::mismatch);
  EXPECT_NE(verified.error().message.find("row 7, value 100: got"), std::string::npos)
      << verified.error().message;
}

TEST(Verify, CatchesAMaskThatIsOffByOneToken) {
  const Problem problem = some_problem();
  Problem shorter = problem;
  shorter.lengths[0] -= 1;
  FakeKernel kernel(shorter, [](std::int64_t, OutputRow&) {});
  EXPECT_FALSE(verify(kernel, problem, 4).has_value());
}

TEST(Verify, CatchesOutputThatWasNeverWritten) {
  for (const std::int64_t poisoned : {0, 12, 29}) {
    const auto verified = verify_changed([&](std::int64_t row, OutputRow& output) {
      if (row == poisoned) output.values[0] = kNan;
    });
    EXPECT_FALSE(verified.has_value()) << "row " << poisoned;
  }
}

TEST(Verify, CatchesAnLseThatWasNeverWritten) {
  const auto verified = verify_changed([](std::int64_t row, OutputRow& output) {
    if (row == 3) output.lse = kNan;
  });
  EXPECT_FALSE(verified.has_value());
}

TEST(Verify, WantsExactZeroAndMinusInfinityWhereThereIsNothingToAttendTo) {
  const std::int64_t empty_row = 25;  // request 2 has length 0
  EXPECT_FALSE(verify_changed([&](std::int64_t row, OutputRow& output) {
                 if (row == empty_row) output.values[5] = 1e-6f;
               }).has_value());
  EXPECT_FALSE(verify_changed([&](std::int64_t row, OutputRow& output) {
                 if (row == empty_row) output.lse = -1e30f;
               }).has_value());
}

TEST(Verify, CatchesRowsOfTheWrongWidth) {
  const auto verified =
      verify_changed([](std::int64_t, OutputRow& output) { output.values.pop_back(); });
  ASSERT_FALSE(verified.has_value());
  EXPECT_NE(verified.error().message.find("has 511 values, not 512"), std::string::npos);
}

TEST(Verify, AllowsMergedRowsWhatTheirPartsLostInTheirLastPlace) {
  const Problem problem = some_problem();
  FakeKernel kernel(problem, [](std::int64_t, OutputRow& output) {
    output.values[7] += 0.03f * rms(output.values);
  });
  const Reference reference = make_reference(problem, 4, mla_dense_reference_rows).value();
  const auto with = [&](const Tolerance& allowed) {
    return verify(kernel, problem, reference, allowed).has_value();
  };
  EXPECT_FALSE(with(merged_tolerance(KvDtype::bf16, 1))) << "one part is no merge";
  EXPECT_TRUE(with(merged_tolerance(KvDtype::bf16, 8)));
}

TEST(Verify, AllowsWhatE4m3LosesOnlyToAKernelThatMultipliesInIt) {
  FakeKernel kernel(some_problem(), [](std::int64_t, OutputRow& output) {
    output.values[7] += 0.3f * rms(output.values);
    output.lse += 0.05f;
  });
  EXPECT_FALSE(verify(kernel, some_problem(), 4).has_value());
  kernel.products = Arithmetic::e4m3;
  EXPECT_TRUE(verify(kernel, some_problem(), 4).has_value());
}

TEST(Verify, CatchesSumsThatE4m3CutOffThoughNoValueIsFarAway) {
  FakeKernel kernel(some_problem(), [](std::int64_t, OutputRow& output) {
    const float shift = 0.3f * rms(output.values);
    for (float& value : output.values) value -= shift;
  });
  kernel.products = Arithmetic::e4m3;
  const auto verified = verify(kernel, some_problem(), 4);
  ASSERT_FALSE(verified.has_value());
  EXPECT_NE(verified.error().message.find("differences of its values, rms: got"), std::string::npos)
      << verified.error().message;
}

TEST(Verify, SamplesTheFirstTheLastAndSomeBetween) {
  FakeKernel kernel(some_problem(), [](std::int64_t, OutputRow&) {});
  const auto verified = verify(kernel, some_problem(), 4);
  ASSERT_TRUE(verified.has_value());
  EXPECT_EQ(verified->rows_checked, 4);
  ASSERT_EQ(kernel.asked.size(), 4u);
  EXPECT_EQ(kernel.asked.front(), 0);
  EXPECT_EQ(kernel.asked.back(), 29);
  EXPECT_TRUE(kernel.asked[1] > 0 && kernel.asked[1] < kernel.asked[2] && kernel.asked[2] < 29);
}

}  // namespace
}  // namespace headsplit::kernels

#include "agent/counter_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "agent/counters.h"

namespace headsplit::agent {
namespace {

using ::testing::Test;

/// The host API plans without a GPU, so the table is checked wherever the toolkit is.
class CounterHostTest : public Test {
 protected:
  void SetUp() override {
    auto api = load_cupti();
    ASSERT_TRUE(api) << api.error().message;
    api_ = *api;
  }
  CounterPlan plan_of(std::string_view chip, CounterSet set) {
    auto host = CounterHost::open(api_, std::string(chip), {});
    if (!host) throw std::runtime_error(host.error().message);
    return host->plan(counters_of(chip, set)).value();
  }
  CuptiApi api_;
};

TEST_F(CounterHostTest, KnowsEveryChipOfTheTable) {
  const auto known = known_chips(api_);
  ASSERT_TRUE(known) << known.error().message;
  for (std::string_view chip : supported_chips()) {
    EXPECT_TRUE(std::ranges::count(*known, chip)) << chip;
  }
}

TEST_F(CounterHostTest, FitsTheStandardSetOfEveryChipIntoOnePass) {
  for (std::string_view chip : supported_chips()) {
    const CounterPlan plan = plan_of(chip, CounterSet::standard);
    EXPECT_EQ(plan.passes, 1u) << chip;
    EXPECT_GE(plan.rows.size(), 3u) << chip;
    for (const CounterRow& row : plan.missing) ADD_FAILURE() << chip << ": no " << row.metric;
  }
}

TEST_F(CounterHostTest, FindsTheDetailSetOfEveryChip) {
  for (std::string_view chip : supported_chips()) {
    const CounterPlan plan = plan_of(chip, CounterSet::detail);
    EXPECT_GE(plan.passes, 1u) << chip;
    for (const CounterRow& row : plan.missing) ADD_FAILURE() << chip << ": no " << row.metric;
  }
}

TEST_F(CounterHostTest, ListsMetricsThatAChipDoesNotHaveAsMissing) {
  auto host = CounterHost::open(api_, "GB202", {}).value();
  const CounterRow wrong{Figure::dram_bytes_read, CounterSet::standard, "dram__bytes_read.sum",
                         "GB202"};
  const CounterRow right{Figure::l2_bytes, CounterSet::standard, "lts__t_bytes.sum", "GB202"};
  const CounterPlan plan = host.plan({wrong, right}).value();
  ASSERT_EQ(plan.missing.size(), 1u);
  EXPECT_EQ(plan.missing[0].metric, "dram__bytes_read.sum");
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.passes, 1u);
}

TEST_F(CounterHostTest, RefusesAChipThatTheLibraryDoesNotKnow) {
  const auto host = CounterHost::open(api_, "XX999", {});
  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message.find("CUPTI host_initialize"), std::string::npos)
      << host.error().message;
}

TEST(Counters, RefuseBesideAnotherProfiler) {
  ASSERT_EQ(setenv("CUDA_INJECTION64_PATH", "/opt/tool/inject.so", 1), 0);
  const auto counters = Counters::open();
  unsetenv("CUDA_INJECTION64_PATH");
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().message,
            "no hardware counters: a CUDA injection library is at work ($CUDA_INJECTION64_PATH is "
            "set)");
}

}  // namespace
}  // namespace headsplit::agent

#include "core/nearest.h"

#include <gtest/gtest.h>

namespace headsplit {
namespace {

using Names = std::vector<std::string>;

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("batch", "batch"), 0);
  EXPECT_EQ(edit_distance("bach", "batch"), 1);
  EXPECT_EQ(edit_distance("batchh", "batch"), 1);
  EXPECT_EQ(edit_distance("botch", "batch"), 1);
  EXPECT_EQ(edit_distance("btach", "batch"), 1);
  EXPECT_EQ(edit_distance("", "batch"), 5);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(EditDistance, TakesUpperAndLowerCaseAlike) {
  EXPECT_EQ(edit_distance("DeepSeek-V3", "deepseek-v3"), 0);
}

TEST(NearestNames, PutsTheNearestFirst) {
  const Names names = {"deepseek-v2", "deepseek-v3", "kimi-k2", "deepseek-v3.2"};
  EXPECT_EQ(nearest_names("deepsek-v3", names).front(), "deepseek-v3");
  EXPECT_EQ(nearest_names("kimi", names), Names{"kimi-k2"});
}

TEST(NearestNames, OffersNothingWhenNothingIsNear) {
  EXPECT_TRUE(nearest_names("llama", {"deepseek-v3", "kimi-k2"}).empty());
  EXPECT_TRUE(nearest_names("", {"deepseek-v3"}).empty());
  EXPECT_TRUE(nearest_names("x", {}).empty());
}

TEST(NearestNames, SurvivesVeryLongWords) {
  const std::string endless(100000, 'a');
  EXPECT_TRUE(nearest_names(endless, {"batch", "context"}).empty());
}

TEST(DidYouMean, NamesTheGuessAndTheLegalNames) {
  EXPECT_EQ(did_you_mean("bach", {"batch", "context"}),
            "; did you mean 'batch'? Legal: batch, context");
  EXPECT_EQ(did_you_mean("zzz", {"batch", "context"}), "; legal: batch, context");
}

}  // namespace
}  // namespace headsplit

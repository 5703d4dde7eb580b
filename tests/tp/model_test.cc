#include "tp/model.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace headsplit::tp {
namespace {

using Sizes = std::vector<int>;

TEST(ReadModel, FindsABuiltInModelByItsName) {
  const Model model = read_model("deepseek-v3").value();
  EXPECT_EQ(model.name, "deepseek-v3");
  EXPECT_EQ(model.attention, Attention::mla);
  EXPECT_EQ(model.heads, 128);
  EXPECT_EQ(model.kv_heads, 1) << "num_key_value_heads 128 is not the cache's";
  EXPECT_EQ(model.layers, 61);
  EXPECT_EQ(model.mtp_layers, 1);
  EXPECT_EQ(model.hidden, 7168);
  EXPECT_EQ(model.q_lora_rank, 1536);
  EXPECT_EQ(model.cache_row_values(), 576);
  EXPECT_EQ(model.d_nope, 128);
  EXPECT_EQ(model.d_v, 128);
  EXPECT_NE(model.source.find("huggingface.co/deepseek-ai/DeepSeek-V3"), std::string::npos);
}

TEST(ReadModel, NamesTheNearestAndAllModelsWhenTheNameIsUnknown) {
  const auto model = read_model("deepsek-v3");
  ASSERT_FALSE(model);
  const std::string& message = model.error().message;
  EXPECT_EQ(message.find("model 'deepsek-v3': unknown; did you mean 'deepseek-v3'"), 0u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(ReadModel, TakesAPathToAConfigOrToItsFolder) {
  const auto folder = std::filesystem::temp_directory_path() / "headsplit-model-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << R"({"num_attention_heads": 32, "hidden_size": 4096,
    "num_hidden_layers": 2, "num_key_value_heads": 8})";
  EXPECT_EQ(read_model((folder / "config.json").string()).value().attention, Attention::gqa);
  EXPECT_EQ(read_model(folder.string()).value().kv_heads, 8);
  std::filesystem::remove_all(folder);
}

TEST(ReadModel, SaysWhichFileIsNotThere) {
  const auto model = read_model("/nowhere/config.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message.find("/nowhere/config.json: "), 0u);
}

TEST(LegalTpSizes, AreTheDivisorsOfTheHeads) {
  EXPECT_EQ(legal_tp_sizes({.heads = 128}), (Sizes{1, 2, 4, 8, 16, 32, 64, 128}));
  EXPECT_EQ(legal_tp_sizes({.heads = 96}), (Sizes{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96}));
  EXPECT_EQ(legal_tp_sizes({.heads = 20}), (Sizes{1, 2, 4, 5, 10, 20}));
}

TEST(LegalTpSizes, KeepWholeKvHeadsTogetherInGroupedAttention) {
  // Qwen2.5-7B: 28 heads in 4 groups of 7; at 7 ranks a rank would straddle two groups.
  EXPECT_EQ(legal_tp_sizes({.attention = Attention::gqa, .heads = 28, .kv_heads = 4}),
            (Sizes{1, 2, 4, 28}));
}

}  // namespace
}  // namespace headsplit::tp

#include <gtest/gtest.h>

#include "tp/model.h"

namespace headsplit::tp {
namespace {

struct Expected {
  const char* name;
  int heads;
  int layers;
  int hidden;
  int q_lora_rank;  ///< 0: none
  int row;
  int d_nope;
  int d_v;
};

/// The table of published configurations.  Source: docs/model.md, "Models".
const Expected kTable[] = {
    {"deepseek-v2", 128, 60, 5120, 1536, 576, 128, 128},
    {"deepseek-v2-lite", 16, 27, 2048, 0, 576, 128, 128},
    {"deepseek-v3", 128, 61, 7168, 1536, 576, 128, 128},
    {"deepseek-r1", 128, 61, 7168, 1536, 576, 128, 128},
    {"deepseek-v3.1", 128, 61, 7168, 1536, 576, 128, 128},
    {"deepseek-v3.2", 128, 61, 7168, 1536, 576, 128, 128},
    {"kimi-k2", 64, 61, 7168, 1536, 576, 128, 128},
    {"kimi-k2.5", 64, 61, 7168, 1536, 576, 128, 128},
    {"kimi-k3", 96, 24, 7168, 1536, 576, 128, 128},
    {"kimi-linear-48b", 32, 7, 2304, 0, 576, 128, 128},
    {"kimi-vl-16b", 16, 27, 2048, 0, 576, 128, 128},
    {"moonlight-16b", 16, 27, 2048, 0, 576, 128, 128},
    {"glm-5", 64, 78, 6144, 2048, 576, 192, 256},
    {"glm-5.2", 64, 78, 6144, 2048, 576, 192, 256},
    {"glm-5.3-flash", 64, 11, 4096, 1536, 512, 256, 256},
    {"glm-4.7-flash", 20, 47, 2048, 768, 576, 192, 256},
    {"longcat-flash", 64, 56, 6144, 1536, 576, 128, 128},
    {"minicpm3-4b", 40, 62, 2560, 768, 288, 64, 64},
};

TEST(BuiltInModels, HaveTheFiguresOfTheTable) {
  for (const auto& expected : kTable) {
    const auto read = read_model(expected.name);
    ASSERT_TRUE(read) << read.error().message;
    const Model& model = read.value();
    EXPECT_EQ(model.heads, expected.heads) << expected.name;
    EXPECT_EQ(model.layers, expected.layers) << expected.name;
    EXPECT_EQ(model.hidden, expected.hidden) << expected.name;
    EXPECT_EQ(model.q_lora_rank.value_or(0), expected.q_lora_rank) << expected.name;
    EXPECT_EQ(model.cache_row_values(), expected.row) << expected.name;
    EXPECT_EQ(model.d_nope, expected.d_nope) << expected.name;
    EXPECT_EQ(model.d_v, expected.d_v) << expected.name;
  }
}

TEST(BuiltInModels, AllReadAndNameTheirSource) {
  const auto names = model_names().value();
  EXPECT_GE(names.size(), 21u);
  for (const auto& name : names) {
    const auto model = read_model(name);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model.value().source.rfind("https://", 0), 0u) << name;
    EXPECT_FALSE(model.value().title.empty()) << name;
  }
}

TEST(BuiltInModels, KnowTheSparseOnesAndTheirIndexers) {
  const Model v32 = read_model("deepseek-v3.2").value();
  EXPECT_EQ(v32.index_topk, 2048);
  EXPECT_EQ(v32.index_heads, 64);
  EXPECT_EQ(v32.indexer_layers, 61);
  EXPECT_EQ(read_model("glm-5.2").value().indexer_layers, 21);
  const Model glm53 = read_model("glm-5.3-flash").value();
  EXPECT_EQ(glm53.indexer_layers, 11);
  EXPECT_EQ(glm53.index_pool, 4);
  EXPECT_EQ(read_model("kimi-k2").value().index_topk, 0);
}

TEST(BuiltInModels, HoldTheSeedsPerHeadModels) {
  // Heads and KV heads of the intensity table: 28/4, 32/8, 71/1.
  const Model qwen = read_model("qwen2.5-7b").value();
  EXPECT_EQ(qwen.heads, 28);
  EXPECT_EQ(qwen.kv_heads, 4);
  EXPECT_EQ(qwen.d_nope, 128);
  const Model mixtral = read_model("mixtral-8x7b").value();
  EXPECT_EQ(mixtral.heads, 32);
  EXPECT_EQ(mixtral.kv_heads, 8);
  const Model falcon = read_model("falcon-7b").value();
  EXPECT_EQ(falcon.attention, Attention::mqa);
  EXPECT_EQ(falcon.heads, 71);
  EXPECT_EQ(falcon.d_nope, 64);
}

}  // namespace
}  // namespace headsplit::tp

#include "tp/model_reader.h"

#include <gtest/gtest.h>

namespace headsplit::tp {
namespace {

/// A config with the fields given, on top of a small MLA model.
std::string config_with(const std::string& fields, const std::string& without = "") {
  json::value base = parse_json(R"({"num_attention_heads": 64, "num_hidden_layers": 4,
    "hidden_size": 1024, "q_lora_rank": 256, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128})")
                         .value();
  const json::value extra = parse_json("{" + fields + "}").value();
  for (const auto& field : extra.get_object()) {
    base.get_object()[field.key()] = field.value();
  }
  base.get_object().erase(without);
  return json::serialize(base);
}

Result<Model> read(const std::string& text) { return model_from_config(text, "config.json"); }

std::string error_of(const std::string& text) {
  const auto model = read(text);
  return model ? "no error" : model.error().message;
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos && message.find('\n') == std::string::npos;
}

TEST(ModelReader, DescendsIntoTextConfigWhenTheTopHasNoMlaFields) {
  const Model model =
      read(R"({"model_type": "kimi_k25", "text_config": )" + config_with("") + "}").value();
  EXPECT_EQ(model.heads, 64);
  EXPECT_EQ(model.notes.front(), "read from text_config");
}

TEST(ModelReader, PrefersTheTextPartWhenBothHaveMlaFieldsAndSaysSo) {
  const std::string inner = config_with(R"("num_attention_heads": 32)");
  const Model model = read(config_with(R"("llm_config": )" + inner)).value();
  EXPECT_EQ(model.heads, 32);
  EXPECT_TRUE(says(model.notes.front(), "read from llm_config; the top level has MLA fields too"));
}

TEST(ModelReader, StaysAtTheTopWhenTheNestedPartHasNoLatent) {
  const Model model =
      read(config_with(R"("text_config": {"num_attention_heads": 3, "hidden_size": 8})")).value();
  EXPECT_EQ(model.heads, 64);
}

TEST(ModelReader, RefusesDeepSeekV4AndSaysWhy) {
  const std::string message = error_of(R"({"num_attention_heads": 128, "num_key_value_heads": 1,
    "head_dim": 512, "num_hidden_layers": 2, "hidden_size": 7168, "compress_ratios": [4, 128]})");
  EXPECT_TRUE(says(message, "compress_ratios")) << message;
  EXPECT_TRUE(says(message, "DeepSeek-V4")) << message;
}

TEST(ModelReader, AllowsARopeWidthOfZero) {
  const Model model = read(config_with(R"("qk_rope_head_dim": 0)")).value();
  EXPECT_EQ(model.cache_row_values(), 512);
}

TEST(ModelReader, IgnoresHeadDimAndKeyValueHeadsOfALatentModel) {
  const Model model = read(config_with(R"("head_dim": 72, "num_key_value_heads": 64)")).value();
  EXPECT_EQ(model.cache_row_values(), 576);
  EXPECT_EQ(model.kv_heads, 1);
}

TEST(ModelReader, AssumesTheValueWidthWhenItIsMissingAndSaysSo) {
  const Model model = read(config_with("", "v_head_dim")).value();
  EXPECT_EQ(model.d_v, 128);
  EXPECT_TRUE(says(model.notes.front(), "no v_head_dim: assumed equal to qk_nope_head_dim"));
}

TEST(ModelReader, TakesNullAndAbsentQueryRankAsDirectButNotZero) {
  EXPECT_EQ(read(config_with(R"("q_lora_rank": null)")).value().q_lora_rank, std::nullopt);
  EXPECT_EQ(read(config_with("", "q_lora_rank")).value().q_lora_rank, std::nullopt);
  EXPECT_TRUE(says(error_of(config_with(R"("q_lora_rank": 0)")), "q_lora_rank: 0 is no rank"));
}

TEST(ModelReader, CountsOnlyFullAttentionLayersOfAHybridWhateverTheBaseOfTheList) {
  const Model one_based =
      read(config_with(
               R"("linear_attn_config": {"full_attn_layers": [2, 4], "kda_layers": [1, 3]})"))
          .value();
  EXPECT_EQ(one_based.layers, 2);
  EXPECT_EQ(one_based.decoder_layers, 4);
  const Model zero_based =
      read(config_with(
               R"("linear_attn_config": {"full_attn_layers": [3], "kda_layers": [0, 1, 2]})"))
          .value();
  EXPECT_EQ(zero_based.layers, 1);
}

TEST(ModelReader, RefusesLayerListsThatContradictEachOther) {
  for (const char* lists : {R"("full_attn_layers": [2, 4], "kda_layers": [1, 2])",
                            R"("full_attn_layers": [2, 5], "kda_layers": [1, 3])",
                            R"("full_attn_layers": [0, 1, 2, 3, 4], "kda_layers": [])",
                            R"("full_attn_layers": [4])", R"("kda_layers": [1, 2, 3, 4])"}) {
    const std::string message =
        error_of(config_with(str(R"("linear_attn_config": {)", lists, "}")));
    EXPECT_TRUE(says(message, "full_attn_layers")) << message;
  }
}

TEST(ModelReader, CountsTwoAttentionsALayerForLongCat) {
  const Model model =
      read(config_with(R"("model_type": "longcat_flash", "num_layers": 28)", "num_hidden_layers"))
          .value();
  EXPECT_EQ(model.layers, 56);
  EXPECT_TRUE(says(error_of(config_with(R"("model_type": "longcat_flash", "num_layers": 28)")),
                   "num_hidden_layers: 4 contradicts num_layers 28"));
}

TEST(ModelReader, TakesIndexerTypesOfAllLayersWithOrWithoutTheMtpLayer) {
  const std::string sparse =
      R"("index_topk": 2048, "index_n_heads": 32, "index_head_dim": 128, "indexer_types": )";
  const Model model = read(config_with(sparse + R"(["full", "shared", "shared", "full"])")).value();
  EXPECT_EQ(model.indexer_layers, 2);
  EXPECT_EQ(read(config_with(sparse + R"(["full", "full", "full", "full", "full"])"))
                .value()
                .indexer_layers,
            4);
  EXPECT_TRUE(says(error_of(config_with(sparse + R"(["full"])")), "has 1 entries for 4 layers"));
  EXPECT_TRUE(says(error_of(config_with(sparse + R"(["full", "half", "full", "full"])")),
                   "'half' is not one of: full, shared"));
}

TEST(ModelReader, KnowsTheSpellingsOfOpenPanguAndMistral) {
  const Model pangu = read(R"({"num_attention_heads": 128, "num_hidden_layers": 61,
    "hidden_size": 7680, "attention_q_lora_dim": 1536, "attention_kv_lora_dim": 512,
    "attention_qk_dim": 128, "attention_qk_rope_dim": 64, "attention_v_dim": 128})")
                          .value();
  EXPECT_EQ(pangu.cache_row_values(), 576);
  EXPECT_EQ(pangu.q_lora_rank, 1536);
  const Model mistral = read(R"({"dim": 7168, "n_layers": 61, "n_heads": 128, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128})")
                            .value();
  EXPECT_EQ(mistral.hidden, 7168);
  EXPECT_EQ(mistral.layers, 61);
}

TEST(ModelReader, WarnsAboutRowsThatNoPublishedKernelTakes) {
  const Model model = read(config_with(R"("kv_lora_rank": 384, "qk_rope_head_dim": 192)")).value();
  EXPECT_TRUE(says(model.notes.back(), "cache row 384 + 192"));
}

TEST(ModelReader, RefusesLatentFieldsWithoutARank) {
  // openPangu-R-72B: qk_nope_dim and v_channels, but 4 KV heads and no latent.
  const std::string message = error_of(R"({"num_attention_heads": 80, "num_hidden_layers": 2,
    "hidden_size": 8192, "num_key_value_heads": 4, "qk_nope_dim": 128, "v_channels": 128})");
  EXPECT_TRUE(says(message, "no kv_lora_rank")) << message;
  EXPECT_TRUE(says(error_of(config_with("", "kv_lora_rank")), "no kv_lora_rank"));
  EXPECT_TRUE(says(error_of(config_with(R"("kv_lora_rank": 0)")), "kv_lora_rank: 0 is no rank"));
}

TEST(ModelReader, RefusesAnObjectWithoutAttention) {
  EXPECT_TRUE(says(error_of("{}"), "config.json: no attention of a language model in it"));
  EXPECT_TRUE(says(error_of("[1]"), "expected an object"));
}

TEST(ModelReader, RefusesGroupsOfLinearAttentionWhoseOrderIsNotStated) {
  EXPECT_TRUE(says(error_of(config_with(R"("layer_group_size": 8)")), "layer_group_size"));
}

TEST(ModelReader, ReadsPerHeadAttentionFromItsKvHeads) {
  const auto per_head = [](const std::string& fields) {
    return read(R"({"num_hidden_layers": 2, "num_attention_heads": 32, "hidden_size": 4096)" +
                fields + "}");
  };
  EXPECT_EQ(per_head("").value().attention, Attention::mha);
  EXPECT_EQ(per_head(R"(, "num_key_value_heads": 8)").value().attention, Attention::gqa);
  EXPECT_EQ(per_head(R"(, "multi_query": true)").value().attention, Attention::mqa);
  EXPECT_EQ(per_head(R"(, "head_dim": 256)").value().d_v, 256);
  EXPECT_FALSE(per_head(R"(, "num_key_value_heads": 5)"));
}

TEST(ModelReader, NamesFileLineAndFieldOfAWrongValue) {
  const std::string message = error_of(
      "{\n\"hidden_size\": 8, \"num_attention_heads\": 4,\n"
      "\"num_hidden_layers\": 2,\n\"kv_lora_rank\": \"wide\"}");
  EXPECT_EQ(message,
            "config.json:4: kv_lora_rank: expected an integer from 0 to 65536, not a text");
  EXPECT_EQ(error_of("{\n  \"a\": 1,\n  nonsense}").find("config.json:3:3: not JSON"), 0u);
}

TEST(ModelReader, RefusesTwoNamesOfOneFieldThatDisagree) {
  EXPECT_TRUE(says(error_of(config_with(R"("n_heads": 32)")),
                   "n_heads: 32 contradicts num_attention_heads 64"));
}

}  // namespace
}  // namespace headsplit::tp

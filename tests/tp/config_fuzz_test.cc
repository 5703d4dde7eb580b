// Mutated config.json files: the reader answers each with an error of one line or with a model
// whose shape is the file's own, and never crashes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tp/config_files.h"
#include "tp/model_reader.h"

namespace headsplit::tp {
namespace {

std::vector<std::string> built_in_texts() {
  std::vector<std::string> texts;
  for (const auto& name : model_names().value()) {
    texts.push_back(file_text(configs_folder().value() / "models" / (name + ".json")).value());
  }
  return texts;
}

/// What every answer must keep.
void check_answer(const Result<Model>& answer, const std::string& text) {
  if (!answer) {
    const std::string& message = answer.error().message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.rfind("config.json", 0), 0u) << message;
    EXPECT_LT(message.size(), 500u) << message.substr(0, 500);
    return;
  }
  const Model& model = answer.value();
  EXPECT_GE(model.heads, 1) << text;
  EXPECT_GE(model.hidden, 1) << text;
  EXPECT_GE(model.layers, 1) << text;
  EXPECT_GE(model.kv_heads, 1) << text;
  EXPECT_EQ(model.heads % model.kv_heads, 0) << text;
  EXPECT_GE(model.d_rope, 0) << text;
  EXPECT_GE(model.d_nope, 1) << text;
  EXPECT_GE(model.d_v, 1) << text;
  EXPECT_EQ(model.is_mla(), model.d_latent > 0) << text;
  EXPECT_GT(model.cache_row_values(), 0) << text;
  EXPECT_LE(model.indexer_layers, model.layers) << text;
  EXPECT_FALSE(legal_tp_sizes(model).empty()) << text;
}

Result<Model> read(const std::string& text) { return model_from_config(text, "config.json"); }

TEST(ConfigFuzz, SurvivesTruncationAtEveryByte) {
  for (const auto& text : built_in_texts()) {
    for (std::size_t length = 0; length < text.size(); length += 7) {
      check_answer(read(text.substr(0, length)), text.substr(0, length));
    }
  }
}

TEST(ConfigFuzz, SurvivesFlippedAndInsertedBytes) {
  std::mt19937_64 random(1);
  const auto texts = built_in_texts();
  for (int round = 0; round < 4000; ++round) {
    std::string text = texts[random() % texts.size()];
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % text.size();
      const auto byte = static_cast<char>(random() % 256);
      if (random() % 2 == 0) {
        text[at] = byte;
      } else {
        text.insert(at, 1, byte);
      }
    }
    check_answer(read(text), text);
  }
}

TEST(ConfigFuzz, SurvivesLinesSwappedDoubledAndLost) {
  std::mt19937_64 random(2);
  const auto texts = built_in_texts();
  for (int round = 0; round < 2000; ++round) {
    std::istringstream stream(texts[random() % texts.size()]);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    const std::size_t from = random() % lines.size();
    const std::size_t to = random() % lines.size();
    if (round % 3 == 0) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
    if (round % 3 == 1) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), lines[from]);
    if (round % 3 == 2) std::swap(lines[from], lines[to]);
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    check_answer(read(text), text);
  }
}

struct ShapeField {
  const char* name;
  int Model::*member;
};
const ShapeField kShapeFields[] = {
    {"num_attention_heads", &Model::heads}, {"hidden_size", &Model::hidden},
    {"kv_lora_rank", &Model::d_latent},     {"qk_rope_head_dim", &Model::d_rope},
    {"qk_nope_head_dim", &Model::d_nope},   {"v_head_dim", &Model::d_v},
    {"num_hidden_layers", &Model::layers},  {"num_nextn_predict_layers", &Model::mtp_layers}};

const char* const kStrangeValues[] = {"0",
                                      "-1",
                                      "1",
                                      "7",
                                      "64",
                                      "64.0",
                                      "1.5",
                                      "1e3",
                                      "-0",
                                      "1e400",
                                      "\"64\"",
                                      "true",
                                      "[64]",
                                      "{}",
                                      "[[[[64]]]]",
                                      "2147483647",
                                      "2147483648",
                                      "9223372036854775807",
                                      "18446744073709551615",
                                      "99999999999999999999999999",
                                      "\"\\n\\u0000\"",
                                      "\"0x40\""};

TEST(ConfigFuzz, NeverTakesAStrangeValueForAnotherShape) {
  const std::string plain =
      file_text(configs_folder().value() / "models" / "deepseek-v3.json").value();
  for (const auto& field : kShapeFields) {
    const std::string key = str('"', field.name, "\": ");
    const std::size_t at = plain.find(key) + key.size();
    const std::size_t end = plain.find_first_of(",\n", at);
    for (const char* value : kStrangeValues) {
      const std::string text = plain.substr(0, at) + value + plain.substr(end);
      const auto answer = read(text);
      check_answer(answer, text);
      if (!answer) continue;
      EXPECT_EQ(std::to_string(answer.value().*field.member),
                std::string(value) == "-0" ? "0" : value)
          << field.name << " " << value;
    }
  }
}

TEST(ConfigFuzz, RefusesNestingThatWouldExhaustTheStack) {
  for (const char open : {'[', '{'}) {
    std::string text;
    for (int depth = 0; depth < 200000; ++depth) text += open == '[' ? "[" : "{\"text_config\":";
    check_answer(read(text), "deep");
    EXPECT_FALSE(read(text));
  }
}

TEST(ConfigFuzz, SurvivesHostileWordsAndLists) {
  const char* const texts[] = {
      R"({"num_attention_heads": 4, "hidden_size": 8, "num_hidden_layers": 2,
          "layer_types": [1, 2]})",
      R"({"num_attention_heads": 4, "hidden_size": 8, "num_hidden_layers": 2,
          "layer_types": "all"})",
      R"({"num_attention_heads": 4, "hidden_size": 8, "num_hidden_layers": 2, "model_type": 7})",
      R"({"num_attention_heads": 4, "hidden_size": 8, "num_hidden_layers": 1, "kv_lora_rank": 8,
          "qk_nope_head_dim": 1, "qk_rope_head_dim": 0, "v_head_dim": 1, "index_topk": 4,
          "index_n_heads": 1, "index_head_dim": 1,
          "indexer_types": ["full\nheadsplit: all is well"]})",
      R"({"text_config": {"text_config": {"num_attention_heads": 4}}})",
      R"({"headsplit": {"title": 1}, "num_attention_heads": 4})"};
  for (const char* text : texts) {
    const auto answer = read(text);
    EXPECT_FALSE(answer) << text;
    check_answer(answer, text);
  }
}

}  // namespace
}  // namespace headsplit::tp

#include "cli/predict.h"

#include <gtest/gtest.h>

#include "cli/count_text.h"
#include "cli/model_options.h"
#include "cli/predict_report.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

Answer run(const std::string& command_line) { return run_verb(add_predict, command_line); }

TEST(Predict, GivesTheDocumentedKeysInOrderForEachLayout) {
  const Answer answer =
      run("predict --model deepseek-v3 --kernel mla_dense --device h200 --tp 1,2,4,8 --batch 128 "
          "--context 8192 --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const json::array rows = parse_json(answer.out).value().as_array();
  ASSERT_EQ(rows.size(), 4u);
  std::vector<std::string> keys;
  for (const auto& field : rows[0].as_object()) keys.emplace_back(field.key());
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "layout", "local_heads", "flops", "hbm_bytes", "kv_bytes", "qo_bytes",
                      "kv_memory_bytes_per_layer", "intensity_flop_per_byte", "time_us", "limiter",
                      "kv_duplication", "speedup", "tp_efficiency", "reuse_retained"}));
  EXPECT_EQ(rows[3].at("layout"), "tp8");
  EXPECT_EQ(rows[3].at("local_heads"), 16);
}

TEST(Predict, TakesLayoutsByNameAndCountsWithUnits) {
  const Answer answer = run(
      "predict --model kimi-k2 --device h20 --layout tp4xdp2,cp8 --batch 64 --context 32K --csv");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out.rfind("layout,local_heads,flops,", 0), 0u);
  EXPECT_NE(answer.out.find("\ntp4xdp2,16,"), std::string::npos);
  EXPECT_NE(answer.out.find("\ncp8,64,"), std::string::npos);
}

TEST(Predict, DrawsATableWithItsNotes) {
  const Answer answer = run("predict --model deepseek-v3 --batch 128 --context 8K");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("speed-up"), std::string::npos);
  EXPECT_NE(answer.out.find("Legal tp: 1, 2, 4, 8, 16, 32, 64, 128"), std::string::npos);
}

TEST(Predict, HasTablesOfTheLayerTheCacheAndTheRetrainedSchemes) {
  EXPECT_NE(run("predict --model deepseek-v3 --table layer").out.find("k absorb"),
            std::string::npos);
  EXPECT_NE(run("predict --model deepseek-v3 --table kv-cache").out.find("GQA (8 KV)"),
            std::string::npos);
  EXPECT_NE(run("predict --model deepseek-v3 --table retrained --tp 4").out.find("approximate"),
            std::string::npos);
}

TEST(Predict, AnswersBadInputWithOneLineAndExitCodeTwo) {
  const std::pair<const char*, const char*> cases[] = {
      {"predict --model deepsek-v3", "did you mean 'deepseek-v3'"},
      {"predict --model deepseek-v3 --device h2000", "did you mean 'h200'"},
      {"predict --model deepseek-v3 --kernel mla_dens", "did you mean 'mla_dense'"},
      {"predict --model deepseek-v3 --tp 3", "legal: 1, 2, 4, 8"},
      {"predict --model deepseek-v3 --layout tp2xpp2", "tp4xdp2"},
      {"predict --model deepseek-v3 --layout dp8 --batch 4", "dp 8 leaves ranks without a request"},
      {"predict --model deepseek-v3 --batch 0", "--batch '0': expected a whole number"},
      {"predict --model deepseek-v3 --context 8X", "--context '8X'"},
      {"predict --model deepseek-v3 --kv-dtype int4",
       "--kv-dtype: 'int4' is not one of: bf16, fp8, fp8_tensor"},
      {"predict --model deepseek-v3 --table layouts2", "did you mean 'layouts'"},
      {"predict --model qwen2.5-7b --kernel mla_dense", "needs a latent"},
      {"predict --model deepseek-v3 --kernel mla_sparse", "no index_topk"},
      {"predict --model deepseek-v3 --kernel mla_expanded --kv-dtype fp8",
       "has no such cache; legal: bf16"}};
  for (const auto& [command_line, part] : cases) {
    const Answer answer = run(command_line);
    EXPECT_EQ(answer.code, 2) << command_line;
    EXPECT_EQ(answer.out, "") << command_line;
    EXPECT_EQ(answer.err.rfind("headsplit: ", 0), 0u) << answer.err;
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  }
}

TEST(CountFromText, KnowsKAndMAndRefusesTheRest) {
  EXPECT_EQ(count_from_text("--context", "8K", 1 << 20).value(), 8192);
  EXPECT_EQ(count_from_text("--context", "1M", 1 << 20).value(), 1 << 20);
  for (const char* text : {"", "0", "-1", "8Q", "8KK", "1.5K", "2M", "99999999999999999999"}) {
    EXPECT_FALSE(count_from_text("--context", text, 1 << 20)) << text;
  }
}

TEST(CsvText, QuotesCellsThatNeedIt) {
  const json::array rows =
      parse_json(R"([{"a": "x,y", "b": 1.5}, {"a": "say \"q\"", "b": null}])").value().as_array();
  EXPECT_EQ(csv_text(rows), "a,b\n\"x,y\",1.5\n\"say \"\"q\"\"\",\n");
}

TEST(Figure, KeepsSignificantDigitsWithoutExponents) {
  EXPECT_EQ(figure(1234.56), "1235");
  EXPECT_EQ(figure(0.0123456), "0.01235");
  EXPECT_EQ(figure(0), "0.000");
}

}  // namespace
}  // namespace headsplit::cli

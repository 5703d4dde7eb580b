#include "coordinator/sweep.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace headsplit::coordinator {
namespace {

Sweep sweep_of(const std::string& text) { return sweep_from_yaml(text, "s.yaml").value(); }

std::string error_of(const std::string& text) {
  const auto sweep = sweep_from_yaml(text, "s.yaml");
  return sweep ? "no error" : sweep.error().message;
}

TEST(Sweep, ReadsTheFormatOfTheDesign) {
  const Sweep sweep = sweep_of(R"(
name: tp-erosion
model: deepseek-v3
kernels: [mla_dense]
layouts: [{tp: 1}, {tp: 8}, {dp: 8}, {cp: 8}, tp4xdp2]
ranks: emulated
axes: {batch: [1, 16], query_tokens: [1, 2], context: [1K, 64K, 1M], kv_dtype: [bf16, fp8]}
exclude: [{batch: 16, context: 1M}, {layout: cp8, kv_dtype: fp8}]
measure: {l2: cold, min_time_ms: 30, max_noise: 0.02, counters: true, repeats: 3}
limits: {attempts: 2, point_timeout_s: 60.5}
seed: 18446744073709551615
)");
  EXPECT_EQ(sweep.name, "tp-erosion");
  EXPECT_EQ(sweep.model.name, "deepseek-v3");
  EXPECT_EQ(sweep.model.heads, 128);
  EXPECT_EQ(json_text(sweep.layouts),
            R"([{"tp":1,"dp":1,"cp":1},{"tp":8,"dp":1,"cp":1},{"tp":1,"dp":8,"cp":1},)"
            R"({"tp":1,"dp":1,"cp":8},{"tp":4,"dp":2,"cp":1}])");
  EXPECT_EQ(json_text(sweep.axes),
            R"({"batch":[1,16],"query_tokens":[1,2],"context":[1024,65536,1048576],)"
            R"("kv_dtype":["bf16","fp8"],"lengths":["equal"],"l2":["cold"],"message_bytes":[0],)"
            R"("fixed_splits":[0],"top_k":[0]})");
  EXPECT_EQ(sweep.exclude.size(), 2u);
  EXPECT_EQ(sweep.measure.repeats, 3);
  EXPECT_EQ(sweep.measure.max_noise, 0.02);
  EXPECT_EQ(sweep.limits.point_timeout_s, 60.5);
  EXPECT_EQ(sweep.seed, 18446744073709551615u);
}

TEST(Sweep, AsksForTheDetailCountersAndForSettledClocks) {
  const MeasureSettings plain = sweep_of("name: a\ntp: 1\nmeasure: {counters: true}").measure;
  EXPECT_TRUE(plain.counters);
  EXPECT_FALSE(plain.counters_detail);
  EXPECT_EQ(plain.mode, MeasureMode::burst);
  const MeasureSettings more =
      sweep_of("name: a\ntp: 1\nmeasure: {counters: detail, mode: sustained}").measure;
  EXPECT_TRUE(more.counters);
  EXPECT_TRUE(more.counters_detail);
  EXPECT_EQ(more.mode, MeasureMode::sustained);
  EXPECT_FALSE(sweep_of("name: a\ntp: 1\nmeasure: {counters: false}").measure.counters);
}

TEST(Sweep, VariesTheTokensThatAQueryKeeps) {
  const Sweep sweep =
      sweep_of("name: a\nmodel: deepseek-v3.2\nkernels: mla_sparse\naxes: {top_k: [0, 1K]}");
  EXPECT_EQ(sweep.axes.top_k, (std::vector{0, 1024}));
  EXPECT_EQ(sweep_of(sweep_content(sweep)), sweep);
  EXPECT_EQ(error_of("axes: {top_k: 1K}"),
            "s.yaml:1:15: axes.top_k: is of mla_sparse and dsa_indexer only");
  const std::string error = error_of("kernels: mla_sparse");
  EXPECT_EQ(error.find("s.yaml:1:10: kernels: kernel mla_sparse needs an indexer, and deepseek-v3 "
                       "has no index_topk; models that have one: deepseek-v3.2, glm-5"),
            0u)
      << error;
}

TEST(Sweep, FixesTheSplitsOfARequestAsAnAxisOrWhileMeasuring) {
  const Sweep sweep = sweep_of("name: a\nmeasure: {fixed_splits: [0, 4]}");
  EXPECT_EQ(sweep.axes.fixed_splits, (std::vector{0, 4}));
  EXPECT_EQ(sweep_of("name: a\naxes: {fixed_splits: [0, 4]}"), sweep);
  EXPECT_EQ(sweep_of(sweep_content(sweep)), sweep);
  EXPECT_EQ(error_of("axes: {fixed_splits: 1}\nmeasure: {fixed_splits: 2}"),
            "s.yaml:2:25: measure.fixed_splits: fixed_splits is given in axes already; "
            "write it once");
  EXPECT_EQ(sweep_content(sweep_of("name: a\nmeasure: {fixed_splits: 0}")),
            sweep_content(sweep_of("name: a")))
      << "plans keep the ids that they had before there was such an axis";
}

TEST(Sweep, LeavesPluginFilesToTheAgentsThatRunThem) {
  const std::vector<std::string> both = {"mla_dense", "plugin:libmine.so"};
  EXPECT_EQ(sweep_of("name: a\nkernels: [mla_dense, plugin:libmine.so]").kernels, both);
  EXPECT_NE(error_of("name: a\nkernels: ['plugin:']").find("unknown kernel"), std::string::npos);
}

TEST(Sweep, TakesAScalarWhereAListIsMeant) {
  EXPECT_EQ(sweep_of("name: a\nkernels: mla_dense\ntp: 2\naxes: {batch: 64, l2: warm}"),
            sweep_of("name: a\nkernels: [mla_dense]\nlayouts: [{tp: 2}]\n"
                     "axes: {batch: [64]}\nmeasure: {l2: [warm]}"));
}

TEST(Sweep, HasTwoShorthandsForHeadSplits) {
  const Sweep wanted = sweep_of("name: a\nlayouts: [tp1, tp2, tp4]");
  EXPECT_EQ(sweep_of("name: a\ntp: [1, 2, 4]"), wanted);
  EXPECT_EQ(sweep_of("name: a\nlayouts: {tp: [1, 2, 4]}"), wanted);
}

TEST(Sweep, IsNamedAfterItsFileUnlessItSays) {
  EXPECT_EQ(sweep_from_yaml("tp: 1", "/tmp/quick.yaml").value().name, "quick");
}

TEST(Sweep, RaisesTheTimeLimitWithTheLeastTime) {
  EXPECT_EQ(sweep_of("measure: {min_time_ms: 5000}").measure.max_time_ms, 5000);
}

TEST(Sweep, SamplesSustainedPointsOverSeveralStepsOfTheClockUnlessItSays) {
  EXPECT_EQ(sweep_of("measure: {mode: burst}").measure.min_time_ms, 30);
  EXPECT_EQ(sweep_of("measure: {mode: sustained}").measure.min_time_ms, 500);
  EXPECT_EQ(sweep_of("measure: {min_time_ms: 60, mode: sustained}").measure.min_time_ms, 60);
}

TEST(Sweep, ComesBackEqualFromItsCanonicalContent) {
  const Sweep sweep = sweep_of(
      "name: a\nlayouts: [tp8, cp8]\naxes: {context: [4K], l2: [cold, warm]}\n"
      "exclude: [{layout: cp8, l2: warm}]\n"
      "measure: {max_noise: 0.005, counters: detail, mode: sustained}\nseed: 7");
  EXPECT_EQ(sweep_of(sweep_content(sweep)), sweep);
  EXPECT_EQ(sweep_of(json_text(sweep)), sweep);
}

TEST(Sweep, FindsAModelPathBesideTheSweepFile) {
  const auto folder = std::filesystem::temp_directory_path() / "headsplit_sweep_test";
  std::filesystem::create_directories(folder);
  const std::string config = R"({"model_type": "deepseek_v3", "num_attention_heads": 6,
    "num_hidden_layers": 4, "hidden_size": 64, "kv_lora_rank": 32, "q_lora_rank": 16,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16})";
  std::ofstream(folder / "tiny.json") << config;
  std::ofstream(folder / "tiny.yaml") << "model: tiny.json\ntp: [1, 2, 3, 6]\n";
  const Sweep sweep = read_sweep((folder / "tiny.yaml").string()).value();
  EXPECT_EQ(sweep.model.name, "tiny.json");
  EXPECT_EQ(sweep.model.heads, 6);
  EXPECT_EQ(sweep.layouts.size(), 4u);
  std::filesystem::remove_all(folder);
}

struct BadSweep {
  std::string what;  ///< test name
  std::string text;
  std::string error;
};

class BadSweeps : public testing::TestWithParam<BadSweep> {};

TEST_P(BadSweeps, AreOneLineWithPlaceFieldAndLegalValues) {
  const std::string message = error_of(GetParam().text);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(message, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Sweep, BadSweeps,
    testing::Values(
        BadSweep{"Empty", "# nothing\n", "s.yaml:1:1: is empty"},
        BadSweep{"Malformed", "axes: {batch: [1, 2\n",
                 "s.yaml:2:1: not YAML: end of sequence flow not found"},
        BadSweep{"TwoDocuments", "tp: 1\n---\ntp: 2\n",
                 "s.yaml:3:1: a second document; a file holds one"},
        BadSweep{"NotAMap", "- tp\n",
                 "s.yaml:1:1: expected a map of keys, got a list; legal keys: name, model, "
                 "kernels, layouts, tp, ranks, gang, axes, exclude, measure, limits, seed"},
        BadSweep{
            "UnknownKey", "tp: 1\naxes:\n  bach: 4\n",
            "s.yaml:3:3: axes: unknown key 'bach'; did you mean 'batch'? Legal: batch, "
            "query_tokens, context, kv_dtype, lengths, l2, message_bytes, fixed_splits, top_k"},
        BadSweep{"UnknownPlacement", "ranks: real\ngang: {placement: near}",
                 "s.yaml:2:19: gang.placement: 'near' is not one of: pack, spread, listed"},
        BadSweep{"ListedWithoutAList", "ranks: real\ngang: {placement: listed}",
                 "s.yaml:2:7: gang: placement listed needs 'agents': names, by rank"},
        BadSweep{"CollectiveWithoutAGang", "kernels: all_reduce\naxes: {message_bytes: 1K}",
                 "s.yaml:1:10: kernels: all_reduce needs ranks: real: it runs on a whole gang"},
        BadSweep{"CollectiveWithoutASize", "kernels: all_reduce\nranks: real\naxes: {batch: 1}",
                 "s.yaml:3:7: axes: all_reduce needs axes.message_bytes, such as [1K, 1M]"},
        BadSweep{"MessageOfAttention", "axes: {message_bytes: 1K}",
                 "s.yaml:1:23: axes.message_bytes: is of collectives only: all_reduce, all_gather, "
                 "reduce_scatter, all_to_all"},
        BadSweep{"KeyTwice", "tp: 1\ntp: 2\n", "s.yaml:2:1: key 'tp' is given twice"},
        BadSweep{"Zero", "axes: {batch: [1, 0]}",
                 "s.yaml:1:19: axes.batch[1]: '0' is out of range; legal: a whole number from 1 "
                 "to 1048576"},
        BadSweep{"Negative", "axes: {context: -4K}",
                 "s.yaml:1:17: axes.context: '-4K' is out of range; legal: a whole number from 1 "
                 "to 16777216"},
        BadSweep{"Absurd", "axes: {context: 99999999999999999999}",
                 "s.yaml:1:17: axes.context: '99999999999999999999' is not a whole number; legal: "
                 "a whole number from 1 to 16777216"},
        BadSweep{"AbsurdSuffix", "axes: {context: 9223372036854775807M}",
                 "s.yaml:1:17: axes.context: '9223372036854775807M' is out of range; legal: a "
                 "whole number from 1 to 16777216"},
        BadSweep{"Fraction", "axes: {batch: 1.5}",
                 "s.yaml:1:15: axes.batch: '1.5' is not a whole number; legal: a whole number "
                 "from 1 to 1048576"},
        BadSweep{"Duplicate", "axes: {batch: [4, 8, 4]}",
                 "s.yaml:1:22: axes.batch[2]: is given twice"},
        BadSweep{"DuplicateBySuffix", "axes: {context: [1024, 1K]}",
                 "s.yaml:1:24: axes.context[1]: is given twice"},
        BadSweep{"EmptyList", "axes: {batch: []}",
                 "s.yaml:1:15: axes.batch: the list is empty; give at least one value"},
        BadSweep{"DuplicateLayout", "layouts: [tp2, {tp: 2}]",
                 "s.yaml:1:16: layouts[1]: layout tp2 is given twice"},
        BadSweep{"TpOfNoHeads", "layouts: [{tp: 3}]",
                 "s.yaml:1:11: layouts[0]: tp 3 does not divide the 128 heads of deepseek-v3; "
                 "legal: 1, 2, 4, 8, 16, 32, 64, 128"},
        BadSweep{"LayoutWord", "layouts: [pp8]",
                 "s.yaml:1:11: layouts[0]: layout 'pp8': 'pp' is not tp, dp or cp; write parts "
                 "tpN, dpN, cpN joined by x, such as tp8, cp8 or tp4xdp2"},
        BadSweep{"TooManyRanks", "layouts: [{tp: 2, dp: 65536}]",
                 "s.yaml:1:11: layouts[0]: layout tp2xdp65536 has more than 65536 ranks"},
        BadSweep{"Choice", "axes: {kv_dtype: fp16}",
                 "s.yaml:1:18: axes.kv_dtype: 'fp16' is not one of: bf16, fp8, fp8_tensor"},
        BadSweep{"Kernel", "kernels: mla_dens",
                 "s.yaml:1:10: kernels: unknown kernel 'mla_dens'; did you mean 'mla_dense' "
                 "or 'mla_dense_fp8_mma'? Legal: mla_dense, mla_dense_fp8_mma, mla_sparse, "
                 "dsa_indexer, mha_decode, gqa_decode, mqa_decode, mla_expanded, kv_expand, "
                 "all_reduce, all_gather, reduce_scatter, all_to_all, plugin:FILE"},
        BadSweep{"Boolean", "measure: {counters: maybe}",
                 "s.yaml:1:21: measure.counters: 'maybe'; legal: true, false, detail"},
        BadSweep{"DetailOfAGang", "ranks: real\nmeasure: {counters: detail}",
                 "s.yaml:2:10: measure: counters: detail launches the kernel once more for each "
                 "pass, which collectives do not allow; legal with ranks: real: true, false"},
        BadSweep{"Mode", "measure: {mode: warm}",
                 "s.yaml:1:17: measure.mode: 'warm' is not one of: burst, sustained"},
        BadSweep{"Noise", "measure: {max_noise: nan}",
                 "s.yaml:1:22: measure.max_noise: 'nan'; legal: a number from 1e-06 to 1"},
        BadSweep{"TimeLimits", "measure: {min_time_ms: 50, max_time_ms: 10}",
                 "s.yaml:1:41: measure.max_time_ms: 10 is less than min_time_ms 50"},
        BadSweep{"Attempts", "limits: {attempts: 0}",
                 "s.yaml:1:20: limits.attempts: '0' is out of range; legal: a whole number from 1 "
                 "to 100"},
        BadSweep{"L2Twice", "axes: {l2: cold}\nmeasure: {l2: warm}",
                 "s.yaml:2:15: measure.l2: l2 is given in axes already; write it once"},
        BadSweep{"ExcludesAll", "exclude: [{}]",
                 "s.yaml:1:11: exclude[0]: is empty and would exclude every point"},
        BadSweep{"QueryTokens", "axes: {query_tokens: [1, 4], context: [2, 64]}",
                 "s.yaml:1:22: axes.query_tokens: query_tokens 4 is more than context 2, which "
                 "counts them; legal: at most the smallest context"},
        BadSweep{"Name", "name: a/b\n",
                 "s.yaml:1:7: name: 'a/b'; legal: 1 to 64 letters, digits, '-', '_' and '.'"},
        BadSweep{"Seed", "seed: -1",
                 "s.yaml:1:7: seed: '-1'; legal: a whole number from 0 to 2^64 - 1"}),
    [](const auto& tested) { return tested.param.what; });

TEST(Sweep, OfGangsComesBackEqualAndOthersKeepTheirIds) {
  const Sweep gangs = sweep_of(
      "name: a\nranks: [emulated, real]\ngang: {placement: listed, agents: [x, y], merge: "
      "gather_scatter, pages: blocked}\ntp: 2");
  EXPECT_EQ(sweep_of(sweep_content(gangs)), gangs);
  EXPECT_EQ(sweep_of(json_text(gangs)), gangs);
  const std::string content = sweep_content(sweep_of("name: a\ntp: 2"));
  EXPECT_EQ(content.find("gang"), std::string::npos) << content;
  EXPECT_EQ(content.find("message"), std::string::npos) << content;
  EXPECT_NE(content.find("\"ranks\":\"emulated\""), std::string::npos) << content;
}

TEST(Sweep, NamesTheNearestModel) {
  const std::string message = error_of("tp: 1\nmodel: deepseek-v33\n");
  EXPECT_EQ(message.find("s.yaml:2:8: model: "), 0u) << message;
  EXPECT_NE(message.find("'deepseek-v3'"), std::string::npos) << message;
}

TEST(Sweep, RefusesAProductOfMoreThanAMillionPoints) {
  std::string sizes;
  for (int i = 1; i <= 1001; ++i) sizes += str(i == 1 ? "" : ", ", i);
  EXPECT_EQ(error_of("axes: {batch: [" + sizes + "]}\nmeasure: {repeats: 1000}"),
            "s.yaml:1:1: kernels x layouts x axes x repeats is more than 1000000 points; split the "
            "sweep");
}

TEST(Sweep, RefusesAModelMapWithAbsurdSizes) {
  EXPECT_NE(error_of("model: {name: x, heads: 0, layers: 1, hidden: 1}").find("heads, kv_heads"),
            std::string::npos);
}

TEST(Sweep, SaysThatAFileCannotBeRead) {
  EXPECT_EQ(read_sweep("/no/such.yaml").error().message,
            "/no/such.yaml: cannot be read; expected a sweep file (YAML)");
}

TEST(Sweep, SurvivesDeepNestingAndBinaryNoise) {
  EXPECT_NE(error_of(std::string(100000, '[')), "no error");
  EXPECT_NE(error_of("tp: \x01\x02\xff"), "no error");
  EXPECT_NE(error_of(std::string(2 << 20, 'a')), "no error");
}

}  // namespace
}  // namespace headsplit::coordinator

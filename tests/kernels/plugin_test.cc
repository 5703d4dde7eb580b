#include "kernels/plugin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "kernels/e4m3.h"
#include "kernels/mla_dense/reference.h"
#include "kernels/plugin_memory.h"
#include "kernels/verify.h"

namespace headsplit::kernels {
namespace {

namespace fs = std::filesystem;

/// Folder of the plug-ins that the build made for these tests.
const fs::path kFolder = PLUGIN_FOLDER;

RankProblem small_shape() {
  return {
      .local_heads = 3, .batch = 4, .query_tokens = 2, .context = 100, .lengths = Lengths::ragged};
}

std::string library(const std::string& name) { return (kFolder / ("lib" + name + ".so")).string(); }

Result<KernelEntry> load(const std::string& name) { return load_plugin(library(name)); }

std::unique_ptr<BoundKernel> bound(const KernelEntry& entry, const Problem& problem) {
  return entry.bind(problem, BindOptions{.threads = 1}).value();
}

/// What the measuring protocol does before it times anything.
Result<Verification> verified(const std::string& name) {
  const KernelEntry entry = load(name).value();
  const Problem problem = make_problem(small_shape(), 5);
  const auto kernel = bound(entry, problem);
  TRY(kernel->poison());
  TRY(kernel->launch(Part::all));
  return verify(*kernel, problem, 0);
}

std::string load_error(const std::string& name) {
  const auto entry = load(name);
  if (entry) return "loaded";
  EXPECT_EQ(entry.error().kind, ErrorKind::config);
  return entry.error().message;
}

TEST(Plugin, OfTheExampleAgreesWithTheReference) {
  const auto result = verified("naive_mla");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->rows_checked, 4 * 2 * 3);
  EXPECT_LT(result->worst, 1);
}

TEST(Plugin, IsAnEntryLikeTheOthers) {
  const KernelEntry entry = load("naive_mla").value();
  EXPECT_EQ(entry.backend, Backend::cpu);
  EXPECT_EQ(entry.name, "plugin:" + library("naive_mla"));
  const auto kernel = bound(entry, make_problem(small_shape(), 5));
  EXPECT_NE(kernel->config().reason.find("naive_mla"), std::string::npos);
  EXPECT_TRUE(kernel->launch(Part::split)) << "parts it does not have do nothing";
}

TEST(Plugin, SkipsWhatItDoesNotSupportWithItsOwnReason) {
  RankProblem eight_bits = small_shape();
  eight_bits.kv_dtype = KvDtype::fp8;
  const auto supported = load("naive_mla").value().supports(eight_bits);
  ASSERT_FALSE(supported);
  EXPECT_EQ(supported.error().kind, ErrorKind::config);
  EXPECT_EQ(supported.error().message, "naive_mla: naive_mla reads bf16 caches only");
  EXPECT_EQ(load("refuses").value().supports(small_shape()).error().message,
            "misbehaving: takes no 3 local heads");
}

TEST(Plugin, ThatLiesAboutItsResultsIsCaught) {
  const auto result = verified("lies");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::mismatch);
}

TEST(Plugin, ThatWritesNothingIsCaughtByThePoison) {
  const auto result = verified("writes_nothing");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::mismatch);
  EXPECT_NE(result.error().message.find("nan"), std::string::npos) << result.error().message;
}

TEST(Plugin, ThatCountsOtherFlopsIsRefused) {
  const auto kernel =
      load("wrong_work").value().bind(make_problem(small_shape(), 5), BindOptions{.threads = 1});
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, ErrorKind::mismatch);
  EXPECT_NE(kernel.error().message.find("says that a launch is 1 useful FLOPs"), std::string::npos);
}

TEST(Plugin, ThatThrowsOrFailsIsAnErrorWithItsText) {
  EXPECT_EQ(verified("throws").error().message, "misbehaving: launch threw: out of patience");
  const auto kernel = load("fails_to_prepare")
                          .value()
                          .bind(make_problem(small_shape(), 5), BindOptions{.threads = 1});
  EXPECT_EQ(kernel.error().message, "misbehaving: prepare: failed without saying why");
}

TEST(Plugin, ChoosesItsOwnSplits) {
  const auto kernel =
      load("wrong_work")
          .value()
          .bind(make_problem(small_shape(), 5), BindOptions{.threads = 1, .num_splits = 4});
  EXPECT_EQ(kernel.error().kind, ErrorKind::config);
  EXPECT_EQ(kernel.error().message,
            "misbehaving: splits fixed at 4: a plug-in chooses its own; legal: 0");
}

TEST(Plugin, ThatCrashesTakesItsProcessAndNoOther) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((void)verified("crashes"), testing::KilledBySignal(SIGSEGV), "");
}

TEST(Plugin, IsRefusedWhenItIsNone) {
  EXPECT_NE(load_error("is_not_there").find("libis_not_there.so"), std::string::npos);
  EXPECT_NE(load_error("no_symbol").find("not a kernel plug-in"), std::string::npos);
  EXPECT_NE(load_error("wrong_abi").find("built for version 99"), std::string::npos);
  EXPECT_NE(load_error("no_launch").find("has no launch"), std::string::npos);
  EXPECT_NE(load_error("wrong_operation").find("unknown operation 'matmul'"), std::string::npos);
  const fs::path text = fs::temp_directory_path() / "headsplit_no_library.so";
  std::ofstream(text) << "no library at all\n";
  EXPECT_FALSE(load_plugin(text));
  fs::remove(text);
}

TEST(Plugin, IsFoundByNameInAllowedFoldersOnly) {
  const std::string name = "libnaive_mla.so";
  EXPECT_EQ(plugin_file(name, {"/", kFolder}).value(), fs::canonical(kFolder / name));
  EXPECT_TRUE(plugin_file((kFolder / name).string(), {kFolder}));
  const auto elsewhere = plugin_file((kFolder / name).string(), {kFolder / "other"});
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().message.find("$HEADSPLIT_PLUGINS"), std::string::npos);
  EXPECT_FALSE(plugin_file("../" + kFolder.filename().string() + "/../secret.so", {kFolder}));
}

TEST(Plugin, IsFoundThroughTheRegistryForItsOwnBackend) {
  ASSERT_EQ(setenv("HEADSPLIT_PLUGINS", kFolder.c_str(), 1), 0);
  const auto entry = find_kernel("plugin:libnaive_mla.so", Backend::cpu);
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(find_kernel("plugin:libnaive_mla.so", Backend::cpu).value(), *entry) << "loaded once";
  const auto wrong = find_kernel("plugin:libnaive_mla.so", Backend::cuda);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "plugin:libnaive_mla.so is a plug-in for cpu, and this device is cuda");
  EXPECT_FALSE(find_kernel("plugin:libno_such.so", Backend::cpu));
  unsetenv("HEADSPLIT_PLUGINS");
}

TEST(PluginInputs, OfAnFp8CacheAreRowsOf656Bytes) {
  RankProblem shape = small_shape();
  shape.kv_dtype = KvDtype::fp8;
  const Problem problem = make_problem(shape, 5);
  ThreadPool pool(1);
  const HostInputs inputs = make_host_inputs(problem, pool);
  EXPECT_EQ(inputs.cache_bytes, std::int64_t{656} * problem.page_count * problem.page_tokens);
  const std::int64_t row = std::int64_t{problem.page_table[0]} * problem.page_tokens;
  float scale = 0;
  std::memcpy(&scale, inputs.cache.get() + row * 656 + 512, sizeof scale);
  EXPECT_GT(scale, 0);
  EXPECT_LE(scale, 1.0f / 16);
}

TEST(PluginInputs, OfAnFp8CacheWithOneScaleAreE4m3Values) {
  RankProblem shape = small_shape();
  shape.kv_dtype = KvDtype::fp8_tensor;
  const Problem problem = make_problem(shape, 5);
  ThreadPool pool(1);
  const HostInputs inputs = make_host_inputs(problem, pool);
  EXPECT_EQ(inputs.cache_bytes, std::int64_t{576} * problem.page_count * problem.page_tokens);
  const std::int32_t page = problem.page_table[0];
  const std::uint8_t* const row = inputs.cache.get() + std::int64_t{page} * 576 * 64;
  for (int d = 0; d < 576; ++d) {
    EXPECT_EQ(e4m3_value(row[d]) * fp8_tensor_scale(5), cache_value(problem, page, 0, d));
  }
}

TEST(PluginMemory, ReadsBf16RowsAsFloats) {
  const Problem problem = make_problem(small_shape(), 5);
  const auto memory = make_host_memory(problem, OutputType::bf16, 1).value();
  ASSERT_TRUE(memory->poison());
  auto* output = static_cast<std::uint16_t*>(memory->pointers().output);
  output[problem.shape.d_latent] = 0x3FC0;  // 1.5
  const std::int64_t row = 1;
  const auto rows = read_rows(*memory, problem, OutputType::bf16, std::span(&row, 1)).value();
  EXPECT_EQ(rows[0].values[0], 1.5f);
  EXPECT_TRUE(std::isnan(rows[0].values[1]));
  EXPECT_TRUE(std::isnan(rows[0].lse));
  const std::int64_t beyond = problem.rows();
  EXPECT_FALSE(read_rows(*memory, problem, OutputType::bf16, std::span(&beyond, 1)));
}

}  // namespace
}  // namespace headsplit::kernels

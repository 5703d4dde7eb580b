#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "coordinator/answers/claim.h"

namespace headsplit::coordinator {
namespace {

constexpr const char* kHead =
    "claims:\n"
    "  - id: a\n"
    "    source: a paper\n"
    "    statement: it is so\n"
    "    rows_from: a sweep\n";

std::string error_of(const std::string& judge) {
  const auto claims = claims_from_yaml(kHead + judge, "claims.yaml", ".");
  return claims ? "no error" : claims.error().message;
}

Claim only_claim(const std::string& judge) {
  auto claims = claims_from_yaml(kHead + judge, "claims.yaml", ".");
  EXPECT_TRUE(claims) << (claims ? "" : claims.error().message);
  return claims ? claims.value().front() : Claim{};
}

TEST(Claims, AreReadFromYaml) {
  const Claim claim = only_claim(
      "    judge: {kind: ratio, of: dram_bytes_read, vary: tp, from: 1, to: [2, 8],\n"
      "            expected: inverse, where: {kernel: [mla_dense, mla_sparse], context: {min: "
      "16K}},\n"
      "            accept: {near: 2, tolerance: 0.05}, share: 0.9, least_cases: 3}\n");
  EXPECT_EQ(claim.id, "a");
  EXPECT_EQ(claim.rows_from, "a sweep");
  EXPECT_EQ(claim.judge.kind, JudgeKind::ratio);
  EXPECT_STREQ(claim.judge.of->name, "dram_bytes_read");
  EXPECT_EQ(claim.judge.to, (std::vector<std::string>{"2", "8"}));
  EXPECT_EQ(claim.judge.expected, Expected::inverse);
  EXPECT_EQ(claim.judge.where.text(), "kernel mla_dense or mla_sparse, context 16384 and more");
  EXPECT_DOUBLE_EQ(claim.judge.accept.low, 1.9);
  EXPECT_DOUBLE_EQ(claim.judge.accept.high, 2.1);
  EXPECT_DOUBLE_EQ(claim.judge.share, 0.9);
  EXPECT_EQ(claim.judge.least_cases, 3);
}

TEST(Claims, NameLineAndFieldOfAMistake) {
  EXPECT_EQ(error_of("    judge: {kind: value, of: time_us}\n"),
            "claims.yaml:6:12: claims[0].judge: needs 'accept'");
  EXPECT_EQ(error_of("    judge: {kind: guess, accept: {max: 1}}\n"),
            "claims.yaml:6:19: claims[0].judge.kind: 'guess' is not one of: value, ratio, spread, "
            "knee, crossing, table");
  EXPECT_NE(error_of("    judge: {kind: value, of: tine_us, accept: {max: 1}}\n")
                .find("claims[0].judge.of: no figure 'tine_us'; legal: tp, dp,"),
            std::string::npos);
  EXPECT_EQ(error_of("    judge: {kind: value, accept: {min: 2, max: 1}}\n"),
            "claims.yaml:6:34: claims[0].judge.accept: min is above max");
  EXPECT_EQ(error_of("    judge: {kind: ratio, vary: heads, from: 1, to: 2, accept: {max: 1}}\n"),
            "claims.yaml:6:32: claims[0].judge.vary: no axis 'heads'; legal: tp, dp, cp, layout, "
            "query_tokens, context, batch, kernel, kv_dtype, model");
  EXPECT_EQ(error_of("    judge: {kind: ratio, vary: layout, from: tp1, to: cp8,\n"
                     "            expected: inverse, accept: {max: 1}}\n"),
            "claims.yaml:7:23: claims[0].judge.expected: needs whole numbers as from and to");
}

TEST(Claims, RefuseAnIdGivenTwice) {
  const std::string judge = "    judge: {kind: value, accept: {max: 1}}\n";
  const std::string twice = std::string(kHead) + judge + std::string(kHead).substr(8) + judge;
  const auto claims = claims_from_yaml(twice, "claims.yaml", ".");
  ASSERT_FALSE(claims);
  EXPECT_EQ(claims.error().message, "claims.yaml:7:5: claims[1]: the id 'a' is given twice");
}

TEST(Claims, RefuseAReferenceTableWithoutAColumn) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/bad.csv") << "# source\nlocal_heads,batch,time_us\n1,1,1\n";
  const auto table = read_reference_table(folder + "/bad.csv");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("bad.csv:2: no column context; there are: local_heads,"),
            std::string::npos)
      << table.error().message;
  std::ofstream(folder + "/word.csv") << "local_heads,batch,context,time_us\n1,1,1024,fast\n";
  const auto word = read_reference_table(folder + "/word.csv");
  ASSERT_FALSE(word);
  EXPECT_NE(word.error().message.find(":2: time_us: 'fast'; legal: a number above 0"),
            std::string::npos)
      << word.error().message;
}

TEST(Claims, OfTheConfigsFolderAreAllReadable) {
  const std::string folder = std::string(std::getenv("HEADSPLIT_SOURCE")) + "/configs";
  std::ostringstream text;
  text << std::ifstream(folder + "/claims.yaml").rdbuf();
  const auto claims = claims_from_yaml(text.str(), "claims.yaml", folder);
  ASSERT_TRUE(claims) << claims.error().message;
  EXPECT_GE(claims.value().size(), 40u);
}

}  // namespace
}  // namespace headsplit::coordinator

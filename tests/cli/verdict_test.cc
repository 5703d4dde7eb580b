#include "cli/verdict.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/json.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

std::string source() { return std::getenv("HEADSPLIT_SOURCE"); }

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

Answer verdict(const std::string& options) { return run_verb(add_verdict, "verdict " + options); }

/// Options that name rows of an H200, and the claims of this tree.
std::string main_rows() { return " --db " + source() + "/evidence/h200/tp-erosion-main.jsonl"; }
std::string reference_rows() { return " --db " + source() + "/evidence/h200/reference.jsonl.gz"; }
std::string claims() { return " --claims " + source() + "/configs/claims.yaml"; }

void expect_on_claims_page(const Answer& answer) {
  EXPECT_NE(text_of(source() + "/docs/claims.md").find(answer.out), std::string::npos)
      << "docs/claims.md does not hold this table any more:\n"
      << answer.out;
}

TEST(VerdictVerb, ExitsByWhatTheRowsSay) {
  EXPECT_EQ(verdict("--only tp-erosion,tp-replicates" + claims() + main_rows()).code, 0);
  EXPECT_EQ(verdict("--only tp-erosion,mtp-refund-t4" + claims() + main_rows()).code, 1);
  EXPECT_EQ(verdict("--only h6-b200" + claims() + main_rows()).code, 2);
}

TEST(VerdictVerb, GivesEachClaimAsJsonWithItsRows) {
  const Answer answer = verdict("--json --only ai-mla,h6-b200" + claims() + main_rows());
  const auto parsed = parse_json(answer.out);
  ASSERT_TRUE(parsed) << answer.out;
  const json::array& all = parsed.value().as_array();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("verdict").as_string(), "confirmed");
  EXPECT_NEAR(all[0].at("figure").as_double(), 1.88, 0.02);
  EXPECT_EQ(all[0].at("rows").as_array().size(), 12u);
  EXPECT_EQ(all[1].at("verdict").as_string(), "not_judged");
  EXPECT_TRUE(all[1].at("figure").is_null());
}

TEST(VerdictVerb, NamesTheLineOfAFileThatIsNoRow) {
  const std::string rows = written("rows.jsonl", "{\"tp\": 1}\n\n{\"tp\": \"one\"}\n");
  const Answer answer = verdict("--db " + rows + claims());
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("rows.jsonl:3: tp: expected an integer"), std::string::npos)
      << answer.err;
}

TEST(VerdictVerb, NamesTheSweepsWhenOneIsNotThere) {
  const Answer answer = verdict("--sweep erosion" + claims() + main_rows());
  EXPECT_EQ(answer.code, 2);
  EXPECT_NE(answer.err.find("no sweep 'erosion'; there are: tp-erosion-main"), std::string::npos)
      << answer.err;
}

TEST(VerdictVerb, RefusesFilesThatAreNotThere) {
  EXPECT_EQ(verdict("--db /none/such.db" + claims()).code, 2);
  EXPECT_EQ(verdict("--db /none/such.jsonl" + claims()).code, 2);
  EXPECT_EQ(verdict("--only none" + claims() + main_rows()).code, 2);
}

TEST(VerdictVerb, WroteTheTableOfTheClaimsPage) {
  expect_on_claims_page(verdict("--markdown" + claims() + reference_rows()));
}

TEST(VerdictVerb, WroteTheTableOfOtherKernels) {
  std::string rows;
  for (const std::string name : {"fp8", "sparse", "sparse-dense", "crossover", "attention-table"}) {
    rows += " --db " + source() + "/evidence/h200/" + name + ".jsonl.gz";
  }
  const std::string only =
      " --only ai-mha,ai-gqa,ai-mqa,ai-misleads,h5-fp8-dequant,h5-fp8-dequant-16,tp-keeps-mha,"
      "tp-keeps-gqa,tp-erodes-mqa,expand-decode,switch-point,flash-crossover,flashmla-16x,"
      "sparse-flat,sparse-direction,dsa-no-t-reuse,not-dominant,mha-advantage";
  expect_on_claims_page(verdict("--markdown" + only + claims() + rows));
}

}  // namespace
}  // namespace headsplit::cli

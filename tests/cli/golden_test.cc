/// Every output format of the verbs that answer, as it was when a person last read it and found it
/// right.  HEADSPLIT_WRITE_GOLDEN=1 writes the files anew; read the difference before keeping it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/advise.h"
#include "cli/compare.h"
#include "cli/crossover.h"
#include "cli/report.h"
#include "cli/reproduce.h"
#include "cli/verdict.h"
#include "core/json.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

std::string folder() { return std::string(std::getenv("HEADSPLIT_SOURCE")) + "/tests/cli/golden/"; }

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Texts name files by where this tree is; golden ones do not.
std::string without_folder(std::string text) {
  for (std::size_t at = text.find(folder()); at != std::string::npos; at = text.find(folder())) {
    text.erase(at, folder().size());
  }
  return text;
}

void expect_golden(const std::string& name, const std::string& printed) {
  const std::string text = without_folder(printed);
  if (std::getenv("HEADSPLIT_WRITE_GOLDEN") != nullptr) std::ofstream(folder() + name) << text;
  EXPECT_EQ(text_of(folder() + name), text) << name;
}

using AddVerb = void (*)(CLI::App&, Outcome&);

void expect_verb(AddVerb add_verb, const std::string& command_line, int code,
                 const std::string& name) {
  const Answer answer = run_verb(add_verb, command_line);
  EXPECT_EQ(answer.code, code) << answer.err;
  EXPECT_EQ(answer.err, "");
  expect_golden(name, answer.out);
}

std::string rows() { return " --db " + folder() + "rows.jsonl"; }
std::string both() { return rows() + " --db " + folder() + "slower.jsonl"; }
std::string claims() { return " --claims " + folder() + "claims.yaml" + rows(); }
std::string load() {
  return " --model deepseek-v3 --device h200 --gpus 8 --batch 32 --context 16K --top 6" + rows();
}

TEST(GoldenReport, InMarkdownCsvAndJson) {
  expect_verb(add_report, "report --format md" + rows(), 0, "report.md");
  expect_verb(add_report, "report --format csv" + rows(), 0, "report.csv");
  expect_verb(add_report, "report --format json" + rows(), 0, "report.json");
}

/// The page holds its scripts too; the summary is what is made of rows here.
TEST(GoldenReport, AsAPage) {
  const Answer answer = run_verb(add_report, "report --format html" + rows());
  EXPECT_EQ(answer.code, 0) << answer.err;
  const std::size_t begin = answer.out.find("<section id=\"summary\">");
  const std::size_t end = answer.out.find("</section>", begin);
  ASSERT_NE(end, std::string::npos);
  expect_golden("report.html", answer.out.substr(begin, end - begin) + "</section>\n");
  EXPECT_EQ(answer.out.find("IllegalAddress <b>"), std::string::npos) << "a reason became markup";
}

TEST(GoldenCompare, InEveryFormat) {
  expect_verb(add_compare, "compare" + both(), 1, "compare.txt");
  expect_verb(add_compare, "compare --format md" + both(), 1, "compare.md");
  expect_verb(add_compare, "compare --format json" + both(), 1, "compare.json");
  expect_verb(add_compare, "compare --format junit" + both(), 1, "compare.xml");
}

TEST(GoldenVerdict, InEveryFormat) {
  expect_verb(add_verdict, "verdict" + claims(), 1, "verdict.txt");
  expect_verb(add_verdict, "verdict --markdown" + claims(), 1, "verdict.md");
  expect_verb(add_verdict, "verdict --json" + claims(), 1, "verdict.json");
}

TEST(GoldenAdvise, InEveryFormat) {
  expect_verb(add_advise, "advise" + load(), 0, "advise.txt");
  expect_verb(add_advise, "advise --csv" + load(), 0, "advise.csv");
  expect_verb(add_advise, "advise --json" + load(), 0, "advise.json");
}

/// Rows of two head splits and two contexts; of a third problem the expanded form did not fit.
TEST(GoldenCrossover, InEveryFormat) {
  const std::string file = " --db " + folder() + "crossover.jsonl";
  const Answer text = run_verb(add_crossover, "crossover" + file);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.err,
            "deepseek-v3 tp1 B=32 L=65536: no time of mla_expanded (skipped: needs 176093659136 "
            "bytes (176 GB) a rank; 141000000000 bytes (141 GB) are available), kv_expand\n");
  expect_golden("crossover.txt", text.out);
  const std::string narrow = file + " --context 4K --tp 1";
  expect_verb(add_crossover, "crossover --json" + narrow, 0, "crossover.json");
  expect_verb(add_crossover, "crossover --csv" + narrow, 0, "crossover.csv");
  const std::string plot = testing::TempDir() + "crossover.svg";
  EXPECT_EQ(run_verb(add_crossover, "crossover --out " + plot + narrow).code, 0);
  expect_golden("crossover.svg", text_of(plot));
}

TEST(GoldenReproduce, InEveryFormat) {
  const std::string id =
      parse_json(
          text_of(folder() + "rows.jsonl").substr(0, text_of(folder() + "rows.jsonl").find('\n')))
          .value()
          .at("point_id")
          .as_string()
          .c_str();
  expect_verb(add_reproduce, "reproduce " + id + rows(), 0, "reproduce.txt");
  expect_verb(add_reproduce, "reproduce " + id + " --json" + rows(), 0, "reproduce.json");
}

}  // namespace
}  // namespace headsplit::cli

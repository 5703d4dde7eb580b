#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/tidy/rules.h"

namespace headsplit::tidy {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kSourceFolders = {"core", "tp",    "kernels", "agent",   "coordinator",
                                              "cli",  "tests", "bench",   "include", "examples"};

fs::path source_root() {
  const char* root = std::getenv("HEADSPLIT_SOURCE");
  return root == nullptr ? fs::current_path() : fs::path(root);
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const std::string& folder : kSourceFolders) {
    if (!fs::exists(source_root() / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
      // The rules and their planted faults quote what they forbid.
      if (entry.path().parent_path().filename() == "tidy") continue;
      const std::string extension = entry.path().extension();
      if (std::set<std::string>{".h", ".cc", ".cu", ".cuh"}.contains(extension)) {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

bool is_header(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cuh";
}

std::vector<Finding> check(const std::string& rule_name, const std::string& text) {
  for (const Rule& rule : rules()) {
    if (rule.name == rule_name) return rule.check(split_lines(text));
  }
  ADD_FAILURE() << "no rule " << rule_name;
  return {};
}

TEST(Tidy, EverySourceKeepsTheStylePage) {
  ASSERT_GT(sources().size(), 20u);
  for (const fs::path& path : sources()) {
    const auto lines = split_lines(text_of(path));
    for (const Rule& rule : rules()) {
      if (rule.headers_only && !is_header(path)) continue;
      for (const Finding& finding : rule.check(lines)) {
        ADD_FAILURE() << fs::relative(path, source_root()).string() << ":" << finding.line << ": "
                      << finding.what << " [" << rule.name << "]";
      }
    }
  }
}

TEST(Tidy, EverySourceIsFormatted) {
  if (std::system("clang-format --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "clang-format is not installed";
  }
  std::string command = "clang-format --dry-run --Werror";
  for (const fs::path& path : sources()) command += " '" + path.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << "./dev format mends it";
}

TEST(Tidy, NoFolderOfSourcesIsWithoutAReadme) {
  for (const std::string folder :
       {"core", "tp", "kernels", "agent", "coordinator", "cli", "bench"}) {
    const std::string readme = text_of(source_root() / folder / "README.md");
    EXPECT_FALSE(readme.empty()) << folder << " has no README.md";
    EXPECT_LE(split_lines(readme).size(), 40u) << folder << "/README.md";
  }
}

TEST(TidyRules, FindALineOfOver100ColumnsAndCountCharactersNotBytes) {
  EXPECT_EQ(check("columns", "short\n" + std::string(101, 'x')).size(), 1u);
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xC3\xA9";
  EXPECT_TRUE(check("columns", wide).empty());
}

TEST(TidyRules, FindAFunctionOfOver70Lines) {
  std::string body;
  for (int i = 0; i < 69; ++i) body += "  work();\n";
  EXPECT_EQ(check("function-length", "void f() {\n" + body + "}\n").size(), 1u);
  EXPECT_TRUE(check("function-length", "void f() {\n  work();\n}\n" + body).empty());
  EXPECT_TRUE(check("function-length", "namespace a {\n" + body + body + "}\n").empty());
}

TEST(TidyRules, FindAggregatesAndLambdasMadeInAnAwaitedCall) {
  EXPECT_EQ(check("await", "  co_await send(Message{.a = 1});").size(), 1u);
  EXPECT_EQ(check("await", "  auto x = co_await send(\n      {1, 2});").size(), 1u);
  EXPECT_EQ(check("await", "  co_await run([text] { use(text); });").size(), 1u);
  EXPECT_TRUE(check("await", "  Message m{1};\n  co_await send(m);").empty());
  EXPECT_TRUE(check("await", "  co_await send(items[0]);").empty());
  EXPECT_TRUE(check("await", "  if (co_await ready()) {").empty());
}

TEST(TidyRules, FindTryBehindOtherMembers) {
  EXPECT_EQ(check("try-in-braces",
                  "  Server s{.url = url, .token = TR"
                  "Y(token())};")
                .size(),
            1u);
  EXPECT_EQ(check("try-in-braces",
                  "  Server s{.url = url,\n           .token = TR"
                  "Y(token())};")
                .size(),
            1u);
  EXPECT_EQ(check("try-in-braces",
                  "  all.push_back({name, TR"
                  "Y(rows())});")
                .size(),
            1u);
  EXPECT_TRUE(check("try-in-braces",
                    "  Server s{.token = TR"
                    "Y(token()), .url = url};")
                  .empty());
  EXPECT_TRUE(check("try-in-braces",
                    "  server.token = TR"
                    "Y(token());")
                  .empty());
}

TEST(TidyRules, FindWordsThatMarkUnfinishedWork) {
  EXPECT_EQ(check("unfinished", std::string("// TO") + "DO later").size(), 1u);
  EXPECT_TRUE(check("unfinished", "// the method of the paper").empty());
}

}  // namespace
}  // namespace headsplit::tidy

#include "cli/manual.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "cli/completion.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

/// A program of two verbs, as small as shows everything.
struct Program {
  CLI::App app{"Measures things.", "measure"};
  std::string file;
  int count = 3;
  bool json = false;

  Program() {
    app.footer("Start with: measure run");
    CLI::App* run = app.add_subcommand("run", "Run it - really");
    run->add_option("file", file, "What to run")->required();
    run->add_option("-n,--count", count, "How often")->capture_default_str();
    run->add_flag("--json", json, ".dotted and it's quoted");
    app.add_subcommand("list", "List all");
  }
};

TEST(Manual, NamesEveryVerbAndOptionWithItsTypeAndDefault) {
  const Program program;
  const std::string page = manual_page(program.app, "1.2.3");
  for (const char* line :
       {".TH measure 1 \"\" \"measure 1.2.3\"", ".SH NAME\nmeasure \\- Measures things.",
        ".SS measure run\nRun it \\- really", "\\fBfile TEXT\\fR\nWhat to run (required)",
        "\\fB\\-n, \\-\\-count INT\\fR\nHow often (default: 3)",
        "\\fB\\-\\-json\\fR\n\\&.dotted and it's quoted", ".SS measure list\nList all"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "\n--- in ---\n" << page;
  }
}

TEST(Manual, IsPrintedByAVerb) {
  const Answer answer = run_verb(add_manual, "manual");
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.out.find("Print this program's manual page"), std::string::npos) << answer.out;
}

TEST(Completion, OfFishDescribesVerbsAndOptions) {
  const Program program;
  const std::string script = completion_script(program.app, Shell::fish);
  EXPECT_NE(script.find("-a run -d 'Run it - really'"), std::string::npos) << script;
  EXPECT_NE(
      script.find("-n '__fish_seen_subcommand_from run' -l json -d '.dotted and it'\\''s quoted'"),
      std::string::npos)
      << script;
}

/// What bash offers for a line, one word a line.
std::string offered(const std::string& script, const std::string& words, int position) {
  const std::string file = testing::TempDir() + "completion.bash";
  std::ofstream(file) << script << "COMP_WORDS=(" << words << ")\nCOMP_CWORD=" << position
                      << "\n_measure\nprintf '%s\\n' \"${COMPREPLY[@]}\" > " << file << ".out\n";
  EXPECT_EQ(std::system(("bash " + file).c_str()), 0);
  std::ifstream answer(file + ".out");
  return {std::istreambuf_iterator<char>(answer), {}};
}

TEST(Completion, OfBashOffersVerbsFirstAndThenTheVerbsOptions) {
  const Program program;
  const std::string script = completion_script(program.app, Shell::bash);
  EXPECT_EQ(offered(script, "measure l", 1), "list\n");
  EXPECT_EQ(offered(script, "measure run --c", 2), "--count\n");
  EXPECT_EQ(offered(script, "measure run --j", 2), "--json\n");
  EXPECT_EQ(offered(script, "measure list --c", 2), "\n");
}

TEST(Completion, OfZshIsThatOfBash) {
  const Program program;
  const std::string script = completion_script(program.app, Shell::zsh);
  EXPECT_EQ(script.rfind("#compdef measure\n", 0), 0u);
  EXPECT_NE(script.find("bashcompinit"), std::string::npos);
}

}  // namespace
}  // namespace headsplit::cli

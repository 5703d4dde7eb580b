#include "tests/tidy/rules.h"

#include <array>
#include <regex>
#include <sstream>

namespace headsplit::tidy {
namespace {

constexpr std::size_t kColumnsMax = 100;
constexpr int kFunctionLinesMax = 70;

using Lines = std::vector<std::string>;
using Findings = std::vector<Finding>;

/// The rule "no line matches this", with what to say where one does.
std::function<Findings(const Lines&)> no_line_matches(const std::string& pattern,
                                                      const std::string& what) {
  return [expression = std::regex(pattern), what](const Lines& lines) {
    Findings findings;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (std::regex_search(lines[i], expression)) {
        findings.push_back({static_cast<int>(i) + 1, what});
      }
    }
    return findings;
  };
}

Findings long_lines(const Lines& lines) {
  Findings findings;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::size_t columns = 0;
    for (const unsigned char byte : lines[i]) columns += (byte & 0xC0) != 0x80;  // UTF-8 tails
    if (columns > kColumnsMax) findings.push_back({static_cast<int>(i) + 1, "over 100 columns"});
  }
  return findings;
}

/// A definition at file or namespace level: starts in column 0, ends with `{`, and is no scope.
bool opens_function(const std::string& line) {
  static const std::regex scope(R"(^(namespace|struct|class|enum|union|extern|BOOST_|#|//|\}))");
  return !line.empty() && line[0] != ' ' && line.ends_with('{') &&
         !std::regex_search(line, scope) && line.find(" = {") == std::string::npos;
}

/// clang-format puts the closing brace of such a definition alone in column 0.
Findings long_functions(const Lines& lines) {
  Findings findings;
  int start = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = static_cast<int>(i) + 1;
    if (start == 0 && opens_function(lines[i])) start = line;
    if (start != 0 && lines[i] == "}") {
      if (line - start + 1 > kFunctionLinesMax) {
        findings.push_back({start, "function of " + std::to_string(line - start + 1) + " lines"});
      }
      start = 0;
    }
  }
  return findings;
}

/// g++ 12 destroys aggregates, initializer lists and capturing lambdas twice when they are made in
/// an expression that awaits.
Findings awaited_temporaries(const Lines& lines) {
  Findings findings;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t await = lines[i].find("co_await");
    const std::size_t comment = lines[i].find("//");
    if (await == std::string::npos || comment < await) continue;
    int depth = 0;
    std::size_t row = i;
    std::size_t column = await;
    for (bool in_call = true; in_call && row < lines.size(); ++row, column = 0) {
      for (; column < lines[row].size(); ++column) {
        const char c = lines[row][column];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth > 0 && (c == '{' || (c == '[' && lines[row][column - 1] == '('))) {
          findings.push_back({static_cast<int>(i) + 1, "temporary made in an awaited call"});
          in_call = false;
          break;
        }
        if (c == ';' || depth < 0) {
          in_call = false;
          break;
        }
      }
    }
  }
  return findings;
}

/// C++ headers say #pragma once; a header that C programs include too has a guard.
Findings missing_pragma_once(const Lines& lines) {
  for (const std::string& line : lines) {
    if (line == "#pragma once" || line == "extern \"C\" {") return {};
  }
  return {{1, "no #pragma once"}};
}

}  // namespace

std::vector<Rule> rules() {
  // The words are split so that this file passes its own rules.
  const std::string unfinished =
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X|HA"
      "CK)\\b|not impl"
      "emented|for n"
      "ow\\b|place"
      "holder";
  return {
      {"columns", false, long_lines},
      {"function-length", false, long_functions},
      {"await", false, awaited_temporaries},
      {"pragma-once", true, missing_pragma_once},
      {"using-namespace", true,
       no_line_matches(R"(^\s*using namespace )", "using namespace in a header")},
      {"detached", false,
       no_line_matches("\\bdetach"
                       "ed\\b",
                       "a detached coroutine loses its errors: use a Nursery")},
      {"try-in-braces", false,
       no_line_matches(R"(^\s+\.\w+ = TRY\(|\{[^{}]*,[^{}]*\bTRY\()",
                       "TRY behind other members: g++ 12 leaks these when it returns")},
      {"unfinished", false, no_line_matches(unfinished, "a word that marks unfinished work")},
      {"tabs", false, no_line_matches("\t", "a tab")},
      {"trailing-space", false, no_line_matches("[ \t]+$", "space at the end of the line")},
      {"stdout", true, no_line_matches("#include <iostream>", "<iostream> in a header")},
  };
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace headsplit::tidy

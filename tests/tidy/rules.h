#pragma once

#include <functional>
#include <string>
#include <vector>

namespace headsplit::tidy {

/// A place where a source breaks the style page.
struct Finding {
  int line = 0;  ///< 1-based
  std::string what;

  bool operator==(const Finding&) const = default;
};

/// One rule: the text of a file in, the places that break it out.
struct Rule {
  std::string name;
  bool headers_only = false;
  std::function<std::vector<Finding>(const std::vector<std::string>& lines)> check;
};

/// Every rule of the style page that a program can check.
std::vector<Rule> rules();

std::vector<std::string> split_lines(const std::string& text);

}  // namespace headsplit::tidy

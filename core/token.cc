#include "core/token.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace headsplit {

Result<std::string> token_from(const std::string& file) {
  if (file.empty()) {
    const char* set = std::getenv("HEADSPLIT_TOKEN");
    return set == nullptr ? std::string() : std::string(set);
  }
  std::ifstream in(file);
  std::string token;
  std::getline(in, token);
  if (token.ends_with('\r')) token.pop_back();
  if (token.empty()) return fail(ErrorKind::config, file, ": no token on its first line");
  return token;
}

bool same_token(const std::string& a, const std::string& b) {
  // Walks all of the longer one; the volatile sum keeps the loop from being cut short.
  volatile unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const unsigned char from_a = i < a.size() ? static_cast<unsigned char>(a[i]) : 0;
    const unsigned char from_b = i < b.size() ? static_cast<unsigned char>(b[i]) : 0;
    difference = difference | static_cast<unsigned>(from_a ^ from_b);
  }
  return difference == 0;
}

}  // namespace headsplit

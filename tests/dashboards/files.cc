#include "tests/dashboards/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace headsplit::dashboards {

std::string source_path(const std::string& name) {
  const char* root = std::getenv("HEADSPLIT_SOURCE");
  return std::string(root == nullptr ? "." : root) + "/" + name;
}

std::string source_text(const std::string& name) {
  std::ifstream file(source_path(name));
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_generated(const std::string& name, const std::string& text) {
  if (std::getenv("HEADSPLIT_WRITE") != nullptr) {
    std::ofstream(source_path(name)) << text;
    return;
  }
  EXPECT_TRUE(source_text(name) == text)
      << name << " is not what its source makes: run this test once with HEADSPLIT_WRITE=1";
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace headsplit::dashboards

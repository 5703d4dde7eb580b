#include "cli/write_out.h"

#include <fstream>
#include <iostream>

namespace headsplit::cli {

Result<void> write_out(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) return fail(ErrorKind::io, "stdout: cannot be written");
    return {};
  }
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) return fail(ErrorKind::io, path, ": cannot be written");
  return {};
}

}  // namespace headsplit::cli

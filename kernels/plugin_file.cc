#include <algorithm>
#include <cstdlib>

#include "kernels/plugin.h"

namespace headsplit::kernels {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders{fs::current_path()};
  const char* variable = std::getenv("HEADSPLIT_PLUGINS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

Result<fs::path> plugin_file(const std::string& name, const std::vector<fs::path>& folders) {
  std::string looked_in;
  std::error_code none;
  for (const fs::path& folder : folders) {
    const fs::path root = fs::weakly_canonical(folder, none);
    const fs::path file = fs::weakly_canonical(root / name, none);  // an absolute name stays itself
    const bool inside =
        std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
    if (inside && fs::is_regular_file(file, none)) return file;
    looked_in += (looked_in.empty() ? "" : ", ") + root.string();
  }
  return fail(ErrorKind::config, "no plug-in '", name, "' in ", looked_in,
              "; more folders are allowed by $HEADSPLIT_PLUGINS");
}

}  // namespace headsplit::kernels

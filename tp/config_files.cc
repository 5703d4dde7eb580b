#include "tp/config_files.h"

#include <cstdlib>
#include <fstream>
#include <vector>

#include "core/nearest.h"

namespace headsplit::tp {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = 16u << 20;

bool is_configs(const fs::path& folder) {
  std::error_code ignored;  // a folder that cannot be seen is not the one
  return fs::is_directory(folder / "models", ignored);
}

}  // namespace

Result<fs::path> configs_folder() {
  if (const char* chosen = std::getenv("HEADSPLIT_CONFIGS"); chosen != nullptr && *chosen != 0) {
    if (is_configs(chosen)) return fs::path(chosen);
    return fail(ErrorKind::io, "HEADSPLIT_CONFIGS=", chosen, ": no folder models in it");
  }
  std::vector<fs::path> folders;
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) {
    folders.push_back(program.parent_path() / "../share/headsplit/configs");
    folders.push_back(program.parent_path() / "../../../configs");
  }
  folders.push_back("configs");
  std::vector<std::string> tried;
  for (const auto& folder : folders) {
    if (is_configs(folder)) return folder.lexically_normal();
    tried.push_back(folder.lexically_normal().string());
  }
  return fail(ErrorKind::io, "no built-in models: looked for a folder models in ", joined(tried),
              "; set HEADSPLIT_CONFIGS to the configs folder of headsplit");
}

Result<std::string> file_text(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size_bytes = fs::file_size(path, error);
  if (error) return fail(ErrorKind::config, path.string(), ": ", error.message());
  if (size_bytes > kFileBytesMax) {
    return fail(ErrorKind::config, path.string(), ": ", size_bytes, " bytes; at most ",
                kFileBytesMax, " are read");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text(size_bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(size_bytes));
  if (!stream) return fail(ErrorKind::config, path.string(), ": cannot be read");
  return text;
}

}  // namespace headsplit::tp

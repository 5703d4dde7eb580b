#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "core/result.h"

namespace headsplit {

/// A new folder for temporary files, gone with its owner.
class ScratchFolder {
 public:
  /// parent: /tmp may be memory; a bench that asks a disk says so with the working directory.
  static Result<ScratchFolder> make(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string path = (parent / "headsplit-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) return fail(ErrorKind::io, "no folder ", path);
    return ScratchFolder(path);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace headsplit

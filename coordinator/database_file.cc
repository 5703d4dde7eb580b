#include "coordinator/database_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace headsplit::coordinator {
namespace {

struct NetworkFileSystem {
  unsigned long magic;
  const char* name;
};
constexpr std::array kNetworkFileSystems = {
    NetworkFileSystem{0x6969, "NFS"},          NetworkFileSystem{0x517B, "SMB"},
    NetworkFileSystem{0xFE534D42, "SMB2"},     NetworkFileSystem{0xFF534D42, "CIFS"},
    NetworkFileSystem{0x0BD00BD0, "Lustre"},   NetworkFileSystem{0x47504653, "GPFS"},
    NetworkFileSystem{0x5346414F, "AFS"},      NetworkFileSystem{0x00C36400, "CephFS"},
    NetworkFileSystem{0x19830326, "BeeGFS"},   NetworkFileSystem{0x7461636F, "OCFS2"},
    NetworkFileSystem{0x20030528, "OrangeFS"}, NetworkFileSystem{0xAAD7AAEA, "PanFS"},
    NetworkFileSystem{0x013111A8, "IBRIX"},    NetworkFileSystem{0x73757245, "Coda"},
};

constexpr std::string_view kSqliteHeader{"SQLite format 3\0", 16};

Error cannot(const std::string& path, const std::string& what, int code) {
  return fail(ErrorKind::io, path, ": ", what, ": ", std::strerror(code));
}

/// The folder that the database lies in: SQLite makes files beside it.
Result<void> check_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return fail(ErrorKind::io, path, ": is a folder; name a database file");
  }
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!fs::is_directory(folder, ignored)) {
    return fail(ErrorKind::io, path, ": there is no folder ", folder, " to hold the database");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    return cannot(path, "the folder " + folder + " cannot be written", errno);
  }
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) != 0) return cannot(path, "statfs", errno);
  if (const auto name = network_file_system(static_cast<unsigned long>(system.f_type))) {
    return fail(ErrorKind::io, path, ": is on ", *name,
                ", a network file system, where SQLite's locks are not safe; name a file on a "
                "local disk, and copy it when the sweep has ended");
  }
  return {};
}

}  // namespace

std::optional<std::string> network_file_system(unsigned long magic) {
  for (const NetworkFileSystem& known : kNetworkFileSystems) {
    if (known.magic == (magic & 0xFFFFFFFF)) return known.name;
  }
  return std::nullopt;
}

Result<DatabaseFile> DatabaseFile::lock(const std::string& path) {
  TRY(check_folder(path));
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return cannot(path, "cannot be opened for writing", errno);
  DatabaseFile file(descriptor, path);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return fail(ErrorKind::io, path,
                  ": is in use by another coordinator; end that one, or name another file");
    }
    return cannot(path, "cannot be locked", errno);
  }
  return file;
}

DatabaseFile::DatabaseFile(DatabaseFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

DatabaseFile& DatabaseFile::operator=(DatabaseFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

DatabaseFile::~DatabaseFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> DatabaseFile::check_exists() const {
  struct stat state {};
  if (::fstat(descriptor_, &state) != 0) return cannot(path_, "fstat", errno);
  if (state.st_nlink == 0) {
    return fail(ErrorKind::io, path_, ": was deleted while in use; rows would be lost");
  }
  return {};
}

Result<void> check_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kSqliteHeader.size()> header{};
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  const std::string_view found(header.data(), static_cast<std::size_t>(file.gcount()));
  if (found.empty() || found == kSqliteHeader) return {};
  return fail(ErrorKind::io, path, ": is not a database; name another file, or move it away");
}

}  // namespace headsplit::coordinator

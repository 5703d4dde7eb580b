#pragma once

#include <optional>
#include <string>

#include "core/result.h"

namespace headsplit::coordinator {

/// Name of a network file system by its statfs magic number ("NFS"); none for local ones.
/// Locks and shared memory, which WAL needs, do not work between machines.
std::optional<std::string> network_file_system(unsigned long magic);

/// The file of a database that is being written: one holder a file, over all processes.
/// Must outlive the connection to the database: closing any descriptor of a file gives up the
/// locks that SQLite holds on it in this process.
class DatabaseFile {
 public:
  /// Checks the place, makes the file when there is none, and locks it.
  /// Fails: io (no such folder, a folder itself, network file system, not writable, in use).
  static Result<DatabaseFile> lock(const std::string& path);

  DatabaseFile(DatabaseFile&& other) noexcept;
  DatabaseFile& operator=(DatabaseFile&& other) noexcept;
  ~DatabaseFile();

  /// Fails: io, when the file was deleted: what is written would be lost.
  Result<void> check_exists() const;

 private:
  DatabaseFile(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

/// Fails: io, when a file is there that does not begin like a database.  An empty one is fine.
Result<void> check_header(const std::string& path);

}  // namespace headsplit::coordinator

#pragma once

#include <memory>
#include <string>

#include "core/result.h"

struct gzFile_s;

namespace headsplit::coordinator {

/// A text file line by line, plain or gzip: which of the two shows in its first bytes.
class LineFile {
 public:
  /// Fails: config (cannot be read).
  static Result<LineFile> open(const std::string& path);

  /// The next line without its end, in `line`; false after the last.  Fails: config (the file ends
  /// too early, or is not what it began as).
  Result<bool> next(std::string& line);

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  LineFile(std::string path, gzFile_s* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace headsplit::coordinator

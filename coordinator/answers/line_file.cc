#include "coordinator/answers/line_file.h"

#include <zlib.h>

#include <array>
#include <cstring>

namespace headsplit::coordinator {

void LineFile::Close::operator()(gzFile_s* file) const { gzclose_r(file); }

Result<LineFile> LineFile::open(const std::string& path) {
  constexpr unsigned kBufferBytes = 1 << 17;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return fail(ErrorKind::config, path, ": cannot be read");
  gzbuffer(file, kBufferBytes);
  return LineFile(path, file);
}

Result<bool> LineFile::next(std::string& line) {
  line.clear();
  std::array<char, 1 << 14> piece;
  while (gzgets(file_.get(), piece.data(), static_cast<int>(piece.size())) != nullptr) {
    line += piece.data();
    if (!line.ends_with('\n')) continue;
    line.pop_back();
    return true;
  }
  int code = Z_OK;
  const char* reason = gzerror(file_.get(), &code);
  // A truncated file may end without an error of its own: then gzclose alone would tell.
  if (code != Z_OK && code != Z_STREAM_END) {
    return fail(ErrorKind::config, path_, ": cannot be read to its end: ", reason);
  }
  return !line.empty();
}

}  // namespace headsplit::coordinator

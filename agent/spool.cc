#include "agent/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/log.h"

namespace headsplit::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".spool";
/// A file that grew so large takes no more rows until all of it was acknowledged.
constexpr std::int64_t kFileBytesMax = 64 << 20;

/// A name that is safe in a path and different for different texts.
std::string file_safe(const std::string& text) {
  std::string safe;
  for (const char c : text.substr(0, 64)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    safe += plain || c == '-' || c == '_' ? c : '_';
  }
  return safe + "-" + content_id(text).substr(0, 8);
}

/// A line of its own, whatever a torn write left before it.
std::string record(const std::string& text) { return "\n" + content_id(text) + " " + text; }

bool answers(const Ack& ack, const Row& row) {
  return row.sweep == ack.sweep && row.point_id == ack.point_id && row.epoch == ack.epoch;
}

/// The rows of a file that were not acknowledged.  What is damaged is passed over, and said.
std::vector<Row> rows_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<Row> rows;
  int damaged = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const auto space = line.find(' ');
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    const bool whole = !text.empty() && line.compare(0, space, content_id(text)) == 0;
    const auto message = whole ? agent_message_from(text) : fail(ErrorKind::io, "torn");
    if (message && std::holds_alternative<Report>(*message)) {
      rows.push_back(std::get<Report>(*message).row);
      continue;
    }
    const auto answer = whole ? coordinator_message_from(text) : fail(ErrorKind::io, "torn");
    if (answer && std::holds_alternative<Ack>(*answer)) {
      const Ack& ack = std::get<Ack>(*answer);
      std::erase_if(rows, [&](const Row& row) { return answers(ack, row); });
      continue;
    }
    ++damaged;
  }
  if (damaged > 0) {
    log_line(LogLevel::warn, "agent", "spool damaged",
             log_field("file", path) + log_field("lines", str(damaged)));
  }
  return rows;
}

Error cannot(const std::string& path, const std::string& what) {
  return fail(ErrorKind::io, path, ": ", what, ": ", std::strerror(errno));
}

}  // namespace

Result<Spool> Spool::open(SpoolOptions options) {
  Spool spool(std::move(options));
  if (spool.options_.folder.empty()) return spool;
  TRY(spool.open_file());
  spool.adopt_left_behind();
  return spool;
}

Result<void> Spool::open_file() {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) return fail(ErrorKind::io, options_.folder, ": cannot be made: ", error.message());
  const std::string name = str(file_safe(options_.agent), ".", ::getpid(), kSuffix);
  path_ = (fs::path(options_.folder) / name).string();
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor_ < 0) return cannot(path_, "cannot be opened for writing");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) return cannot(path_, "cannot be locked");
  // Of an earlier process of our number, perhaps.
  rows_ = rows_of_file(path_);
  saved_ = rows_.size();
  size_bytes_ = ::lseek(descriptor_, 0, SEEK_END);
  return {};
}

/// What processes of this name that are gone left behind becomes ours.
void Spool::adopt_left_behind() {
  const std::string prefix = file_safe(options_.agent) + ".";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(options_.folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with(prefix) && name.ends_with(kSuffix);
    if (!ours || entry.path() == path_) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      for (Row& row : rows_of_file(entry.path())) add(std::move(row));
      if (saved_ == rows_.size()) ::unlink(entry.path().c_str());
    }
    ::close(descriptor);
  }
  if (rows_.empty()) return;
  log_line(LogLevel::info, "agent", "rows of an earlier process are sent again",
           log_field("rows", str(rows_.size())));
}

Spool::Spool(Spool&& other) noexcept
    : options_(std::move(other.options_)),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_),
      rows_(std::move(other.rows_)),
      saved_(other.saved_),
      told_(other.told_) {}

Spool& Spool::operator=(Spool&& other) noexcept {
  std::swap(options_, other.options_);
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(rows_, other.rows_);
  std::swap(saved_, other.saved_);
  std::swap(told_, other.told_);
  return *this;
}

Spool::~Spool() {
  if (descriptor_ < 0) return;
  if (rows_.empty()) {
    ::unlink(path_.c_str());
    ::rmdir(options_.folder.c_str());  // only when nobody else's files are in it
  }
  ::close(descriptor_);
}

void Spool::add(Row row) {
  rows_.push_back(std::move(row));
  save_pending();
}

void Spool::forget(const Ack& ack) {
  const std::size_t before = rows_.size();
  const auto saved_end = rows_.begin() + static_cast<std::ptrdiff_t>(saved_);
  const auto gone_saved =
      std::count_if(rows_.begin(), saved_end, [&](const Row& row) { return answers(ack, row); });
  std::erase_if(rows_, [&](const Row& row) { return answers(ack, row); });
  saved_ -= static_cast<std::size_t>(gone_saved);
  if (descriptor_ < 0 || rows_.size() == before) return;
  // Whatever of this fails, a row is only sent once more.
  if (rows_.empty() && ::ftruncate(descriptor_, 0) == 0) {
    size_bytes_ = 0;
    return;
  }
  const std::string text = record(message_text(CoordinatorMessage(ack)));
  if (::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    size_bytes_ += static_cast<std::int64_t>(text.size());
  }
}

bool Spool::full() {
  save_pending();
  if (rows_.size() >= options_.rows_max || size_bytes_ > kFileBytesMax) return true;
  return descriptor_ >= 0 && saved_ < rows_.size();
}

void Spool::save_pending() {
  if (descriptor_ < 0) return;
  while (saved_ < rows_.size()) {
    const auto done = append(record(message_text(AgentMessage(Report{rows_[saved_]}))));
    if (!done) {
      if (!std::exchange(told_, true)) {
        log_line(LogLevel::error, "agent", "spool takes no row, so no lease is taken",
                 log_field("reason", done.error().message));
      }
      return;
    }
    ++saved_;
    told_ = false;
  }
}

Result<void> Spool::append(const std::string& text) {
  const ssize_t written = ::write(descriptor_, text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size());
  if (whole && ::fdatasync(descriptor_) == 0) {
    size_bytes_ += written;
    return {};
  }
  if (written >= 0 && !whole) errno = ENOSPC;
  Error error = cannot(path_, "cannot be written");
  if (::ftruncate(descriptor_, size_bytes_) != 0) return within_context("cut back", error);
  return error;
}

std::string default_spool_folder(const std::string& coordinator) {
  std::string base = str("/tmp/headsplit-", ::getuid());
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    base = str(state, "/headsplit");
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    base = str(home, "/.local/state/headsplit");
  }
  return str(base, "/", file_safe(coordinator));
}

}  // namespace headsplit::agent

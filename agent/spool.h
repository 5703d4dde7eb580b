#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/message.h"
#include "core/result.h"

namespace headsplit::agent {

struct SpoolOptions {
  std::string folder;  ///< made when missing; empty = in memory only
  std::string agent;   ///< name; rows that earlier processes of it left are taken up
  std::size_t rows_max = 256;
};

/// The rows of an agent that no coordinator has acknowledged yet.  Each is in an fsynced file
/// before `add` returns, so it survives this process; one that starts again under the same name, in
/// the same folder, sends it again.  A row is never dropped: when the disk takes none it stays in
/// memory, and the spool counts as full until it is saved.
///
/// The file holds a line a record, "<checksum> <message>": a report or an acknowledgement, as in
/// docs/protocol.md.  A torn or damaged line is passed over.  Each process has its own file, locked
/// while it lives.
class Spool {
 public:
  /// Fails: io (no folder, not writable; names it).
  static Result<Spool> open(SpoolOptions options);

  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&& other) noexcept;
  /// Removes the file when every row was acknowledged.
  ~Spool();

  void add(Row row);
  /// What the coordinator answered to needs no keeping.
  void forget(const Ack& ack);
  /// In the order of `add`.
  const std::vector<Row>& rows() const { return rows_; }

  /// No lease is to be taken: it holds rows_max rows, or some that the disk did not take.  Tries
  /// those again.
  bool full();

 private:
  explicit Spool(SpoolOptions options) : options_(std::move(options)) {}
  Result<void> open_file();
  void adopt_left_behind();
  void save_pending();
  /// All of `text` and synced, or nothing of it.
  Result<void> append(const std::string& text);

  SpoolOptions options_;
  std::string path_;
  int descriptor_ = -1;  ///< -1: in memory only
  std::int64_t size_bytes_ = 0;
  std::vector<Row> rows_;
  std::size_t saved_ = 0;  ///< rows_[0 .. saved_) are in the file
  bool told_ = false;      ///< that the disk takes nothing
};

/// Where an agent spools unless told otherwise: a folder of its coordinator's, under
/// $XDG_STATE_HOME, else ~/.local/state, else /tmp.
std::string default_spool_folder(const std::string& coordinator);

}  // namespace headsplit::agent

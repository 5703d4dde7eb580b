#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite behind move-only handles and Results.  Every error is ErrorKind::io and names the file.
namespace headsplit::coordinator {

/// A prepared statement.  Parameters are numbered from 1, columns from 0.
class Statement {
 public:
  /// Binds all parameters and runs to the end; rows it gives are passed over.
  template <class... Values>
  Result<void> run(const Values&... values) {
    TRY(start(values...));
    while (TRY(next())) {
    }
    return {};
  }
  /// Binds all parameters; `next` then gives row after row, and false after the last.
  template <class... Values>
  Result<void> start(const Values&... values) {
    reset();
    int at = 0;
    (bind(++at, values), ...);
    return {};
  }
  Result<bool> next();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, std::shared_ptr<const std::string> path)
      : statement_(statement), path_(std::move(path)) {}

  void reset();
  void bind(int at, std::int64_t value);
  void bind(int at, int value) { bind(at, std::int64_t{value}); }
  void bind(int at, bool value) { bind(at, std::int64_t{value}); }
  void bind(int at, double value);
  void bind(int at, std::string_view value);
  void bind(int at, const char* value) { bind(at, std::string_view(value)); }
  void bind(int at, const std::string& value) { bind(at, std::string_view(value)); }
  void bind(int at, std::nullopt_t);
  template <class T>
  void bind(int at, const std::optional<T>& value) {
    value ? bind(at, *value) : bind(at, std::nullopt);
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::shared_ptr<const std::string> path_;
};

enum class OpenMode { read_write, read_only };

/// A connection, for one thread at a time.
class Database {
 public:
  /// busy_timeout_ms: how long a statement waits for another process's lock.
  static Result<Database> open(const std::string& path, OpenMode mode, int busy_timeout_ms);

  /// Runs statements that give no rows.
  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(const std::string& sql);
  /// First column of the first row; 0 or empty when there is no row.
  Result<std::int64_t> integer(const std::string& sql);
  Result<std::string> text(const std::string& sql);
  /// Rows that the latest INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const;
  /// False once an error has ended the transaction.
  bool in_transaction() const;
  /// From now on nothing is moved from the write-ahead log into the file unless `checkpoint` is
  /// called.
  void take_over_checkpoints();
  /// Pages in the write-ahead log after the latest commit of this connection.
  int log_pages() const { return *log_pages_; }
  /// Moves what can be moved without waiting for others.  Where that is all, the next commit begins
  /// the log anew.
  Result<void> checkpoint();
  const std::string& path() const { return *path_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  Database(sqlite3* connection, const std::string& path);

  std::unique_ptr<sqlite3, Close> connection_;
  std::shared_ptr<const std::string> path_;
  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  ///< SQLite knows where it is
};

}  // namespace headsplit::coordinator

#include "coordinator/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace headsplit::coordinator {
namespace {

Error sqlite_error(const std::string& path, sqlite3* connection) {
  return fail(ErrorKind::io, path, ": ", sqlite3_errmsg(connection));
}

/// A file: URI of the path; what a URI gives a meaning is written as %XX.
std::string uri_of(const std::string& path, const char* query) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      std::array<char, 4> code{};
      std::snprintf(code.data(), code.size(), "%%%02X", static_cast<unsigned char>(c));
      uri += code.data();
    } else {
      uri += c;
    }
  }
  return uri + query;
}

/// True when reading works.  A file in WAL mode in a folder that cannot be written opens, and then
/// cannot be read.
bool readable(sqlite3* connection) {
  return sqlite3_exec(connection, "SELECT count(*) FROM sqlite_master", nullptr, nullptr,
                      nullptr) == SQLITE_OK;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

Result<bool> Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  const Error error = sqlite_error(*path_, sqlite3_db_handle(statement_.get()));
  sqlite3_reset(statement_.get());
  return error;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const unsigned char* value = sqlite3_column_text(statement_.get(), column);
  if (value == nullptr) return {};
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return {reinterpret_cast<const char*>(value), size};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), at, value);
}

void Statement::bind(int at, double value) { sqlite3_bind_double(statement_.get(), at, value); }

void Statement::bind(int at, std::string_view value) {
  // data() of an empty view may be null, which SQLite would take for NULL.
  sqlite3_bind_text64(statement_.get(), at, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind(int at, std::nullopt_t) { sqlite3_bind_null(statement_.get(), at); }

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Database::Database(sqlite3* connection, const std::string& path)
    : connection_(connection), path_(std::make_shared<const std::string>(path)) {}

Result<Database> Database::open(const std::string& path, OpenMode mode, int busy_timeout_ms) {
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI |
                    (mode == OpenMode::read_only ? SQLITE_OPEN_READONLY
                                                 : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const auto connect = [&](const char* query) {
    sqlite3* connection = nullptr;
    sqlite3_open_v2(uri_of(path, query).c_str(), &connection, flags, nullptr);
    return Database(connection, path);
  };
  Database database = connect("");
  sqlite3_busy_timeout(database.connection_.get(), busy_timeout_ms);
  if (mode == OpenMode::read_only && !readable(database.connection_.get()) &&
      ::access((path + "-wal").c_str(), F_OK) != 0) {
    database = connect("?immutable=1");  // nobody writes it, and nothing can be made beside it
  }
  const int code = sqlite3_errcode(database.connection_.get());
  if (code != SQLITE_OK) return sqlite_error(path, database.connection_.get());
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqlite_error(*path_, connection_.get());
  }
  return {};
}

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql.c_str(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_error(*path_, connection_.get());
  return Statement(statement, path_);
}

Result<std::int64_t> Database::integer(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  return TRY(statement.next()) ? statement.integer(0) : 0;
}

Result<std::string> Database::text(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  return TRY(statement.next()) ? statement.text(0) : std::string();
}

std::int64_t Database::changes() const { return sqlite3_changes64(connection_.get()); }

void Database::take_over_checkpoints() {
  const auto note = [](void* pages, sqlite3*, const char*, int count) {
    *static_cast<int*>(pages) = count;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection_.get(), note, log_pages_.get());
}

Result<void> Database::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             nullptr, nullptr);
  // Busy: another connection is at it.
  if (code != SQLITE_OK && code != SQLITE_BUSY) return sqlite_error(*path_, connection_.get());
  return {};
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

}  // namespace headsplit::coordinator

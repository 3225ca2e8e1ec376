// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "store/sql_functions.hpp"

namespace kymo::store {
namespace {

constexpr int kBusyTimeoutMs = 10'000;
constexpr int kMaxValueBytes = 256 << 20;
// While the schema is loaded, values have the size that SQLite recommends for untrusted files. The largest view of kymo
// has 15 kB, and the statement that reads the statistics 20 instructions.
constexpr int kMaxSchemaValueBytes = 100'000;
constexpr int kMaxSchemaInstructions = 250;
constexpr int kMaxStatementBytes = 1 << 20;
constexpr int kMaxPatternBytes =
    1000;  ///< of LIKE and GLOB, whose time is the product of the sizes of text and pattern

/// A write beyond the file size limit must return an error instead of terminating the process.
void survive_file_size_limit() {
  struct sigaction current{};
  if (sigaction(SIGXFSZ, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
      current.sa_handler == SIG_DFL) {
    std::signal(SIGXFSZ, SIG_IGN);
  }
}

/// True for messages about a schema that kymo did not write. Statements of users are reported elsewhere.
bool is_about_schema(std::string_view message) {
  return message.starts_with("unsupported file format") || message.starts_with("no such column") ||
         message.find(" has no column named ") != message.npos ||
         message.ends_with(" already exists");  // a view that the schema lists under another spelling
}

std::string remedy(int code, int system_error, std::string_view message) {
  switch (code & 0xff) {
    case SQLITE_ERROR:
      return is_about_schema(message) ? "the file is damaged: its schema is not the one that kymo created; use a copy "
                                        "or another file"
                                      : "";
    case SQLITE_FULL:
      return "the disk is full; free some space and run again (previously stored data is intact)";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the file is damaged; use a copy or another file (`sqlite3 FILE .recover` may recover readable data)";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process locked the file for more than 10 s; wait for that process, or use one file per process "
             "and `kymo merge` them";
    case SQLITE_READONLY:
      return "the file or its directory is not writable; change the permissions or specify another file with --db";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "the file cannot be opened; check that the file and its directory exist and are accessible";
    case SQLITE_IOERR:
      return "reading or writing failed" +
             (system_error ? " (" + std::string(std::strerror(system_error)) + ")" : std::string()) +
             "; check free space, file size limits and the disk (previously stored data is intact)";
    case SQLITE_NOMEM:
      return "out of memory, or more is needed than kymo allows for a database";
    case SQLITE_INTERRUPT:
      return "reading the file was stopped after a limit of time; it is damaged, or it contains too many rows";
    case SQLITE_TOOBIG:
      return "the file is damaged: it contains a larger value than kymo stores; use a copy or another file";
    default:
      return "";
  }
}

}  // namespace

std::string identifier(std::string_view name) { return '"' + join(split(name, '"'), "\"\"") + '"'; }

namespace {

/// "?, ?, ?", one for each of the names.
std::string placeholders(const std::string& names) {
  return join(std::vector<std::string>(split(names, ',').size(), "?"), ", ");
}

}  // namespace

std::string insert_sql(const std::string& table, const std::string& columns, const std::string& otherwise) {
  return "INSERT " + otherwise + " INTO main." + table + " (" + columns + ") VALUES (" + placeholders(columns) + ")";
}

std::string insert_next_sql(const std::string& table, const std::string& owner, const std::string& columns) {
  std::string owned = "?1";
  for (std::size_t i = 2; i <= split(owner, ',').size(); ++i) owned += ", ?" + std::to_string(i);
  return "INSERT INTO main." + table + " (" + owner + ", sequence, " + columns + ") VALUES (" + owned +
         ", (SELECT coalesce(max(sequence), -1) + 1 FROM main." + table + " WHERE (" + owner + ") = (" + owned +
         ")), " + placeholders(columns) + ")";
}

void Connection::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Statement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Connection::Connection(const std::string& name, const std::filesystem::path& file, int flags) : file_(file) {
  survive_file_size_limit();
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail();
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  limit_values(kMaxValueBytes);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kMaxStatementBytes);
  sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kMaxPatternBytes);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);  // VACUUM INTO, too
  // Disable everything that a malicious file could trigger: triggers, functions with side effects, a writable schema.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  add_sql_functions(database);
}

namespace {

int open_flags(Connection::Access access) {
  switch (access) {
    case Connection::Access::kReadOnly:
      return SQLITE_OPEN_READONLY;
    case Connection::Access::kReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Connection::Access::kCreate:
      break;
  }
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

}  // namespace

// An absolute name is never interpreted as a URI or as ":memory:".
Connection::Connection(const std::filesystem::path& file, Access access)
    : Connection(std::filesystem::absolute(file).string(), file, open_flags(access)) {}

std::unique_ptr<Connection> Connection::temporary(const std::filesystem::path& name_in_errors) {
  return std::unique_ptr<Connection>(new Connection("", name_in_errors, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
}

std::unique_ptr<Connection> Connection::private_file(const std::filesystem::path& file,
                                                     const std::filesystem::path& name_in_errors) {
  return std::unique_ptr<Connection>(new Connection(file.string(), name_in_errors, SQLITE_OPEN_READWRITE));
}

void Connection::exec(const std::string& sql) const {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Connection::integer(std::string_view sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Connection::text(std::string_view sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

void Connection::limit_values(std::int64_t bytes) const {
  sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, static_cast<int>(std::min<std::int64_t>(bytes, kMaxValueBytes)));
}

int Connection::load_schema() const {
  const int value_bytes = sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, kMaxSchemaValueBytes);
  const int instructions = sqlite3_limit(handle(), SQLITE_LIMIT_VDBE_OP, kMaxSchemaInstructions);
  const int code = sqlite3_exec(handle(), "SELECT count(*) FROM main.sqlite_master", nullptr, nullptr, nullptr);
  sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, value_bytes);
  sqlite3_limit(handle(), SQLITE_LIMIT_VDBE_OP, instructions);
  return code;
}

std::int64_t Connection::last_insert_id() const { return sqlite3_last_insert_rowid(handle()); }
std::int64_t Connection::changes() const { return sqlite3_changes(handle()); }

namespace {

// Use SQLite's own descriptor: closing a second one would drop this process's locks on the file.
sqlite3_file* file_of(sqlite3* database) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

}  // namespace

std::int64_t Connection::raw_size() const {
  sqlite3_file* file = file_of(handle());
  sqlite3_int64 size = 0;
  return file != nullptr && file->pMethods->xFileSize(file, &size) == SQLITE_OK ? size : 0;
}

std::string Connection::raw_bytes(std::int64_t offset, int count) const {
  sqlite3_file* file = file_of(handle());
  const std::int64_t there = std::max<std::int64_t>(0, std::min<std::int64_t>(count, raw_size() - offset));
  std::string bytes(static_cast<std::size_t>(there), '\0');
  if (file == nullptr || there == 0) return bytes;
  const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(there), offset);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
    throw Error(quote(file_.string()) + " cannot be read: check the disk and the permissions");
  return bytes;
}

bool Connection::lock_raw() const {
  sqlite3_file* file = file_of(handle());
  if (file == nullptr || file->pMethods->xLock(file, SQLITE_LOCK_SHARED) != SQLITE_OK) return false;
  int is_reserved = 0;
  if (file->pMethods->xCheckReservedLock(file, &is_reserved) == SQLITE_OK && is_reserved == 0) return true;
  unlock_raw();
  return false;
}

void Connection::unlock_raw() const {
  sqlite3_file* file = file_of(handle());
  file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
}

std::filesystem::path Connection::journal() const {
  return sqlite3_filename_journal(sqlite3_db_filename(handle(), "main"));
}

bool Connection::is_broken() const {
  switch (sqlite3_errcode(handle()) & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
      return false;
    default:
      return true;
  }
}

void Connection::fail() const {
  const int code = sqlite3_extended_errcode(handle());
  const int system_error = sqlite3_system_errno(handle());
  const std::string advice = remedy(code, system_error, sqlite3_errmsg(handle()));
  throw Error("database " + quote(file_.string()) + ": " + (advice.empty() ? std::string() : advice + "; SQLite: ") +
              one_line(sqlite3_errmsg(handle())));
}

Statement::Statement(const Connection& connection, std::string_view sql) : connection_(connection) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection.handle(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK)
    connection.fail();
  statement_.reset(statement);
}

Statement& Statement::bind(int index, std::nullptr_t) {
  if (sqlite3_bind_null(handle(), index) != SQLITE_OK) connection_.fail();
  return *this;
}

Statement& Statement::bind(int index, std::int64_t value) {
  if (sqlite3_bind_int64(handle(), index, value) != SQLITE_OK) connection_.fail();
  return *this;
}

Statement& Statement::bind(int index, double value) {
  if (sqlite3_bind_double(handle(), index, value) != SQLITE_OK) connection_.fail();
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  const std::string clean = valid_utf8(value);
  if (sqlite3_bind_text64(handle(), index, clean.data(), clean.size(), SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK)
    connection_.fail();
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail();
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() { sqlite3_reset(handle()); }

bool Statement::is_null(int column) const { return sqlite3_column_type(handle(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle(), column); }
double Statement::real(int column) const { return sqlite3_column_double(handle(), column); }
int Statement::column_count() const { return sqlite3_column_count(handle()); }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle(), column));
  return bytes == nullptr ? std::string()
                          : valid_utf8({bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle(), column))});
}

Transaction::Transaction(const Connection& connection) : connection_(connection) { connection.exec("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  // After some errors SQLite has already rolled back.
  if (open_ && sqlite3_get_autocommit(connection_.handle()) == 0)
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.exec("COMMIT");
  open_ = false;
}

}  // namespace kymo::store

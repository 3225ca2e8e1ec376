// SPDX-License-Identifier: Apache-2.0
#include "store/open.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "store/limited.hpp"
#include "store/rollback.hpp"
#include "store/structure.hpp"
#include "store/writer_lock.hpp"

namespace kymo::store {
namespace {

using Mode = ResultsDatabase::Mode;
namespace fs = std::filesystem;

constexpr int kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);  // https://sqlite.org/fileformat.html
constexpr std::chrono::seconds kCreationTime{1};             // from the creation of a file to that of its journal
constexpr std::chrono::seconds kCreationDeadline{10};

[[noreturn]] void reject(const fs::path& file, const std::string& why) {
  throw Error("database " + quote(file.string()) + ": " + why);
}

/// Contents of the first 100 bytes of a file. Used only to reject files.
struct Header {
  bool is_sqlite = false;
  bool uses_wal = false;
  bool is_writable = false;  ///< SQLite only reads a file with a newer write version
  std::int64_t application_id = 0;
  std::int64_t user_version = 0;
};

std::int64_t big_endian(const std::string& bytes, std::size_t at) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

bool begins_as_database(std::string_view bytes) { return bytes.starts_with(kMagic); }

Header read_header(const Connection& connection) {
  const std::string bytes = connection.raw_bytes(0, kHeaderBytes);
  Header header;
  if (bytes.size() < kHeaderBytes || !begins_as_database(bytes)) return header;
  header.is_sqlite = true;
  header.uses_wal = bytes[18] == 2 || bytes[19] == 2;
  header.is_writable = bytes[18] == 1 || bytes[18] == 2;
  header.user_version = big_endian(bytes, 60);
  header.application_id = big_endian(bytes, 68);
  return header;
}

void check_is_file(const fs::path& file, bool may_be_missing) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    if (!may_be_missing) reject(file, "no such file; create it with `kymo run` or specify another file with --db");
    const fs::path folder = fs::absolute(file).parent_path();
    if (!fs::is_directory(folder, error))
      reject(file,
             "directory does not exist; create the directory " + quote(folder.string()) + " or specify another file");
    return;
  }
  if (status.type() == fs::file_type::none)
    reject(file, "cannot access the file (" + error.message() + "); check the permissions of its directory");
  if (status.type() != fs::file_type::regular) reject(file, "not a regular file; specify another file");
}

void check_header(const Connection& connection, std::int64_t application_id, const char* kind) {
  const Header header = read_header(connection);
  if (!header.is_sqlite)
    reject(connection.file(), "not an SQLite database; the file was not modified; specify another file");
  const auto& incompatible = kIncompatibleApplicationIds;
  if (std::find(incompatible.begin(), incompatible.end(), header.application_id) != incompatible.end()) {
    reject(connection.file(),
           "written by an earlier, incompatible version of kymo and cannot be read; the file was "
           "not modified; specify another file");
  }
  if (header.application_id != application_id) {
    reject(connection.file(), std::string("an SQLite database, but not ") + kind +
                                  " of kymo; the file was not modified; specify another file");
  }
}

/// SQLite creates its journal in the directory of the file.
void check_folder_is_writable(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(file), error).parent_path();
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  reject(file, "the directory " + quote(folder.string()) +
                   " is not writable, but SQLite must create the database's journal there; change the permissions or "
                   "specify another file with --db");
}

void check_content(const Connection& connection, std::int64_t checked_bytes) {
  connection.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
  if (connection.raw_size() > checked_bytes) return;
  const std::string verdict = connection.text("PRAGMA quick_check(1)");
  if (verdict != "ok")
    reject(connection.file(), "the file is damaged (" + one_line(verdict) +
                                  "); use a copy or another file (`sqlite3 FILE .recover` may recover readable data)");
}

/// Checks for data that every valid file of the version contains; a file without it is damaged.
void check_version(const Connection& connection, const Schema& schema) {
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const std::string compatible = meta_value(connection, "compatible_version");
  if (version < 1 || compatible.empty() || meta_value(connection, "schema_version") != std::to_string(version)) {
    reject(connection.file(),
           "the file is damaged: its schema version is missing or inconsistent; use a copy or another file");
  }
  const std::int64_t needed = std::strtoll(compatible.c_str(), nullptr, 10);
  if (needed > schema.version()) {
    reject(connection.file(), "written by kymo " + quote(meta_value(connection, "kymo_version")) + " with schema " +
                                  std::to_string(version) + ", but this is kymo " + schema.tool_version +
                                  " with schema " + std::to_string(schema.version()) +
                                  "; the file was not modified; use the newer kymo");
  }
}

/// Limits of the time and memory that a crafted file can use while it is checked. Checking 64 MiB takes 0.2 s.
constexpr Limits kCheckLimits{.processor_seconds = 10, .memory_bytes = std::int64_t{1} << 30};

/// What is not evaluated yet is checked first.
void check(const Connection& connection, const Schema& schema, RequiredTables tables, std::int64_t checked_bytes) {
  const Limited limited(connection, kCheckLimits);
  if (connection.load_schema() != SQLITE_OK) connection.fail();
  check_structure(connection, schema, tables);
  check_content(connection, checked_bytes);
  check_version(connection, schema);
}

bool holds_nothing(const Connection& connection) {
  return connection.integer("SELECT count(*) FROM sqlite_master") == 0;
}

void create_tables(const Connection& connection, const Schema& schema) {
  connection.exec("PRAGMA page_size = 8192; PRAGMA encoding = 'UTF-8'; PRAGMA journal_mode = DELETE");
  Transaction transaction(connection);
  // Another process may have created the tables while this one waited for the lock.
  if (holds_nothing(connection)) {
    connection.exec("PRAGMA application_id = " + std::to_string(kResultsApplicationId));
    migrate(connection, schema);
    replace_views(connection, schema, false);
  }
  transaction.commit();
}

void bring_up_to_date(const Connection& connection, const Schema& schema) {
  if (connection.integer("PRAGMA user_version") >= schema.version() && !needs_views(connection, schema)) return;
  Transaction transaction(connection);
  migrate(connection, schema);
  if (needs_views(connection, schema)) replace_views(connection, schema, false);
  transaction.commit();
}

/// Returns a private copy that can be migrated when the file itself must not be modified.
std::unique_ptr<Connection> private_copy(const Connection& source) {
  auto copy = Connection::temporary(source.file());
  sqlite3_backup* backup = sqlite3_backup_init(copy->handle(), "main", source.handle(), "main");
  if (backup == nullptr) copy->fail();
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) copy->fail();
  return copy;
}

/// The first writer creates the file, then commits its tables. Waits while an empty or incomplete file may be in that
/// state: while it has a journal, and shortly after it appeared. Returns false if the file remains empty.
bool wait_for_creation(const fs::path& file, const Connection& connection) {
  const auto start = fs::file_time_type::clock::now();
  for (;;) {
    std::error_code error;
    const bool has_journal = fs::exists(connection.journal(), error);
    const bool has_content = connection.raw_size() > 0;
    if (has_content && (!has_journal || read_header(connection).is_sqlite)) return true;
    const auto now = fs::file_time_type::clock::now();
    const bool is_new = now - fs::last_write_time(file, error) < kCreationTime;
    if (error || !(is_new || has_journal) || now - start > kCreationDeadline) return has_content;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::unique_ptr<Connection> open_for_reading(const fs::path& file, const Schema& schema) {
  check_is_file(file, false);
  auto connection = std::make_unique<Connection>(file, Connection::Access::kReadOnly);
  if (!wait_for_creation(file, *connection))
    reject(file, "the file is empty; fill it with `kymo run` or specify another file with --db");
  check_header(*connection, kResultsApplicationId, "a results database");
  if (read_header(*connection).uses_wal) {
    reject(file,
           "uses a write-ahead log and cannot be read without writing; switch back with `sqlite3 FILE 'PRAGMA "
           "journal_mode = DELETE'`");
  }
  // On a network file system, the locks may not show that the writer is alive on another machine.
  if (auto copy = roll_back_leftovers(*connection, network_file_system(file) == nullptr)) connection = std::move(copy);
  connection->limit_values(kMaxReadBytes);
  check(*connection, schema, RequiredTables::kAsMigrated, kCheckedBytesForReading);
  if (connection->integer("PRAGMA user_version") < schema.version()) {
    auto copy = private_copy(*connection);
    copy->limit_values(kMaxReadBytes);
    bring_up_to_date(*copy, schema);
    return copy;
  }
  if (!contains_views(*connection, schema)) replace_views(*connection, schema, true);
  return connection;
}

/// Removes a file that was created here but remained empty, so that a failure leaves nothing behind.
class CreatedFile {
 public:
  explicit CreatedFile(const fs::path& file) : file_(file) {
    std::error_code error;
    created_ = fs::status(file, error).type() == fs::file_type::not_found;
  }
  ~CreatedFile() {
    std::error_code error;
    if (created_ && fs::file_size(file_, error) == 0 && !error) fs::remove(file_, error);
  }
  CreatedFile(const CreatedFile&) = delete;
  CreatedFile& operator=(const CreatedFile&) = delete;

  void keep() { created_ = false; }

 private:
  fs::path file_;
  bool created_ = false;
};

std::unique_ptr<Connection> open_for_writing(const fs::path& file, Mode mode, const Schema& schema) {
  const bool create = mode == Mode::kCreate;
  check_is_file(file, create);
  check_folder_is_writable(file);
  CreatedFile created(file);
  auto connection =
      std::make_unique<Connection>(file, create ? Connection::Access::kCreate : Connection::Access::kReadWrite);
  if (sqlite3_db_readonly(connection->handle(), "main") == 1)
    reject(file, "the file is not writable; change the permissions or specify another file with --db");
  std::error_code ignored;
  // Check the file size: SQLite treats a file of one byte as empty and would overwrite it.
  if (connection->raw_size() > 0 || fs::file_size(file, ignored) == 1) {
    check_header(*connection, kResultsApplicationId, "a results database");
    if (!read_header(*connection).is_writable)
      reject(file, "the file is damaged: its header contains an unknown write version; use a copy or another file");
  } else if (!create) {
    reject(file, "the file is empty; fill it with `kymo run` or specify another file with --db");
  }
  // The first read rolls back the journal of a killed writer, which leaves an empty file if its creation was
  // interrupted.
  if (connection->load_schema() != SQLITE_OK) connection->fail();
  if (create && holds_nothing(*connection)) create_tables(*connection, schema);
  check(*connection, schema, RequiredTables::kAsMigrated, kCheckedBytesForWriting);
  connection->exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
  bring_up_to_date(*connection, schema);
  created.keep();
  return connection;
}

}  // namespace

bool is_database(const fs::path& file) {
  std::string begin(kMagic.size(), '\0');
  return std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size())) &&
         begins_as_database(begin);
}

std::unique_ptr<Connection> open_results(const fs::path& file, Mode mode, const Schema& schema) {
  return mode == Mode::kReadOnly ? open_for_reading(file, schema) : open_for_writing(file, mode, schema);
}

std::unique_ptr<Connection> open_rank_file(const fs::path& file, const Schema& schema) {
  check_is_file(file, false);
  auto connection = std::make_unique<Connection>(file, Connection::Access::kReadOnly);
  check_header(*connection, kRankFileApplicationId, "a rank file");
  check(*connection, schema, RequiredTables::kAny, kCheckedBytesForReading);
  if (connection->integer("PRAGMA user_version") >= schema.version()) return connection;
  auto copy = private_copy(*connection);
  migrate(*copy, schema);
  return copy;
}

}  // namespace kymo::store

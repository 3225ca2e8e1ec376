// SPDX-License-Identifier: Apache-2.0
#include "store/opening.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::store {
namespace {

using Mode = ResultsDatabase::Mode;
namespace fs = std::filesystem;

constexpr int kHeaderBytes = 100;
constexpr const char* kMagic = "SQLite format 3";

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error("database " + quote(file.string()) + ": " + why);
}

/// What the first 100 bytes say; none of it is trusted beyond refusing.
struct Header {
  bool is_sqlite = false;
  bool uses_wal = false;
  std::int64_t application_id = 0;
  std::int64_t user_version = 0;
};

std::int64_t big_endian(const std::string& bytes, std::size_t at) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

Header read_header(const Connection& connection) {
  const std::string bytes = connection.raw_bytes(0, kHeaderBytes);
  Header header;
  if (bytes.size() < kHeaderBytes || bytes.compare(0, 16, kMagic, 16) != 0) return header;
  header.is_sqlite = true;
  header.uses_wal = bytes[18] == 2 || bytes[19] == 2;
  header.user_version = big_endian(bytes, 60);
  header.application_id = big_endian(bytes, 68);
  return header;
}

void check_is_file(const fs::path& file, bool may_be_missing) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    if (!may_be_missing) refuse(file, "no such file; `kymo run` makes one, or name another with --db");
    const fs::path folder = fs::absolute(file).parent_path();
    if (!fs::is_directory(folder, error))
      refuse(file, "its folder does not exist; make the folder " + quote(folder.string()) + " or name another file");
    return;
  }
  if (status.type() == fs::file_type::none)
    refuse(file, "cannot be looked at (" + error.message() + "); check the permissions of its folder");
  if (status.type() != fs::file_type::regular) refuse(file, "is not a regular file; name a file");
}

void check_header(const Connection& connection, std::int64_t application_id, const char* kind) {
  const Header header = read_header(connection);
  if (!header.is_sqlite)
    refuse(connection.file(), "is not an SQLite database; it was left as it is, name another file");
  if (header.application_id != application_id) {
    refuse(connection.file(),
           std::string("is an SQLite database, but not ") + kind + " of kymo; it was left as it is, name another file");
  }
}

/// SQLite keeps its journal beside the file.
void check_folder_is_writable(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(file), error).parent_path();
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  refuse(file, "the folder " + quote(folder.string()) +
                   " is not writable, and the database's journal must go there; change the permissions or name another "
                   "file with --db");
}

void check_content(const Connection& connection, std::int64_t checked_bytes) {
  connection.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
  if (connection.raw_size() > checked_bytes) return;
  const std::string verdict = connection.text("PRAGMA quick_check(1)");
  if (verdict != "ok")
    refuse(connection.file(),
           "is damaged (" + one_line(verdict) +
               "); go on with a copy or another file (`sqlite3 FILE .recover` may save what is readable)");
}

/// What an honest file of the version must hold; a file that lost it is damaged.
void check_version(const Connection& connection, const Schema& schema) {
  if (connection.integer("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'") == 0) {
    refuse(connection.file(),
           "holds none of kymo's tables; `kymo run` makes them if the file is empty, or name another with --db");
  }
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const std::string compatible = meta_value(connection, "compatible_version");
  if (version < 1 || compatible.empty() || meta_value(connection, "schema_version") != std::to_string(version)) {
    refuse(connection.file(),
           "does not say of which version its tables are, so it is damaged; go on with a copy or another file");
  }
  const std::int64_t needed = std::strtoll(compatible.c_str(), nullptr, 10);
  if (needed > schema.version()) {
    refuse(connection.file(), "was written by kymo " + quote(meta_value(connection, "kymo_version")) + " with schema " +
                                  std::to_string(version) + ", and this is kymo " + schema.tool_version +
                                  " with schema " + std::to_string(schema.version()) +
                                  "; it was left as it is, use the newer kymo");
  }
}

bool holds_nothing(const Connection& connection) {
  return connection.integer("SELECT count(*) FROM sqlite_master") == 0;
}

void create_tables(const Connection& connection, const Schema& schema) {
  connection.exec("PRAGMA page_size = 8192; PRAGMA encoding = 'UTF-8'; PRAGMA journal_mode = DELETE");
  Transaction transaction(connection);
  // Another process may have made the tables while this one waited for the lock.
  if (holds_nothing(connection)) {
    connection.exec("PRAGMA application_id = " + std::to_string(kResultsApplicationId));
    migrate(connection, schema);
    replace_views(connection, schema, false);
  }
  transaction.commit();
}

void bring_up_to_date(const Connection& connection, const Schema& schema) {
  if (connection.integer("PRAGMA user_version") >= schema.version() && !views_are_older(connection, schema)) return;
  Transaction transaction(connection);
  migrate(connection, schema);
  if (views_are_older(connection, schema)) replace_views(connection, schema, false);
  transaction.commit();
}

/// A copy that may be migrated where the file itself must not be.
std::unique_ptr<Connection> private_copy(const Connection& source) {
  auto copy = Connection::temporary(source.file());
  sqlite3_backup* backup = sqlite3_backup_init(copy->handle(), "main", source.handle(), "main");
  if (backup == nullptr) copy->fail();
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) copy->fail();
  return copy;
}

/// A journal left by a killed writer hides the committed state until a connection that may write has rolled it back.
void roll_back_leftovers(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  if (error || !fs::exists(fs::path(target.string() + "-journal"), error)) return;
  try {
    const Connection writer(file, Connection::Access::kReadWrite);
    writer.integer("SELECT count(*) FROM sqlite_master");
  } catch (const Error&) {
    // Not writable here: if the journal matters, the reader meets it and says so.
  }
}

std::unique_ptr<Connection> open_for_reading(const fs::path& file, const Schema& schema) {
  check_is_file(file, false);
  auto connection = std::make_unique<Connection>(file, Connection::Access::kReadOnly);
  if (connection->raw_size() == 0) refuse(file, "is empty; `kymo run` fills it, or name another with --db");
  check_header(*connection, kResultsApplicationId, "a results database");
  if (read_header(*connection).uses_wal) {
    refuse(file,
           "was switched to a write-ahead log and cannot be read without writing; switch back with `sqlite3 FILE "
           "'PRAGMA journal_mode = "
           "DELETE'`");
  }
  roll_back_leftovers(file);
  check_content(*connection, kCheckedBytesForReading);
  check_version(*connection, schema);
  if (connection->integer("PRAGMA user_version") < schema.version()) {
    auto copy = private_copy(*connection);
    bring_up_to_date(*copy, schema);
    return copy;
  }
  if (views_are_older(*connection, schema)) replace_views(*connection, schema, true);
  return connection;
}

/// Takes back a file that was made here and then could not be filled, so that a failure leaves nothing behind.
class MadeFile {
 public:
  explicit MadeFile(const fs::path& file) : file_(file) {
    std::error_code error;
    made_ = fs::status(file, error).type() == fs::file_type::not_found;
  }
  ~MadeFile() {
    std::error_code error;
    if (made_ && fs::file_size(file_, error) == 0 && !error) fs::remove(file_, error);
  }
  MadeFile(const MadeFile&) = delete;
  MadeFile& operator=(const MadeFile&) = delete;

  void keep() { made_ = false; }

 private:
  fs::path file_;
  bool made_ = false;
};

std::unique_ptr<Connection> open_for_writing(const fs::path& file, Mode mode, const Schema& schema) {
  const bool create = mode == Mode::kCreate;
  check_is_file(file, create);
  check_folder_is_writable(file);
  MadeFile made(file);
  auto connection =
      std::make_unique<Connection>(file, create ? Connection::Access::kCreate : Connection::Access::kReadWrite);
  if (sqlite3_db_readonly(connection->handle(), "main") == 1)
    refuse(file, "is not writable; change the permissions or name another file with --db");
  std::error_code ignored;
  // The size is asked of the file: SQLite takes a file of one byte for an empty one and would write over it.
  if (connection->raw_size() > 0 || fs::file_size(file, ignored) == 1) {
    check_header(*connection, kResultsApplicationId, "a results database");
  } else if (!create) {
    refuse(file, "is empty; `kymo run` fills it, or name another with --db");
  }
  // The first read rolls back what a killed writer left; after a killed creation that leaves nothing.
  if (create && holds_nothing(*connection)) create_tables(*connection, schema);
  check_content(*connection, kCheckedBytesForWriting);
  check_version(*connection, schema);
  connection->exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
  bring_up_to_date(*connection, schema);
  made.keep();
  return connection;
}

}  // namespace

std::unique_ptr<Connection> open_results(const fs::path& file, Mode mode, const Schema& schema) {
  return mode == Mode::kReadOnly ? open_for_reading(file, schema) : open_for_writing(file, mode, schema);
}

std::unique_ptr<Connection> open_rank_file(const fs::path& file, const Schema& schema) {
  check_is_file(file, false);
  auto connection = std::make_unique<Connection>(file, Connection::Access::kReadOnly);
  check_header(*connection, kRankFileApplicationId, "a rank file");
  check_content(*connection, kCheckedBytesForReading);
  check_version(*connection, schema);
  return connection;
}

}  // namespace kymo::store

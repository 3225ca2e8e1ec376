// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

/// A thin layer over SQLite's C interface: ownership, bound parameters, and errors that name the file.
namespace kymo::store {

class Connection;

/// A name in a statement, whatever characters it has.
std::string identifier(std::string_view name);

/// An INSERT of one row into a table of `main`, with a parameter for each of `columns`, which are separated by ", ".
/// `otherwise` is the part after INSERT for rows that exist, such as "OR IGNORE".
std::string insert_sql(const std::string& table, const std::string& columns, const std::string& otherwise = "");
/// The same for a row whose `sequence` follows those of the rows with the same `owner`, columns that are the first
/// parameters.
std::string insert_next_sql(const std::string& table, const std::string& owner, const std::string& columns);

/// A prepared statement. Must not outlive its connection.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql);

  /// Parameters count from 1. NaN is bound as NULL, as SQLite itself does.
  Statement& bind(int index, std::nullptr_t);
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, int value) { return bind(index, static_cast<std::int64_t>(value)); }
  Statement& bind(int index, bool value) { return bind(index, static_cast<std::int64_t>(value)); }
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);
  Statement& bind(int index, const std::string& value) { return bind(index, std::string_view(value)); }
  Statement& bind(int index, const char* value) { return bind(index, std::string_view(value)); }
  template <typename T>
  Statement& bind(int index, const std::optional<T>& value) {
    return value ? bind(index, *value) : bind(index, nullptr);
  }
  template <typename... T>
  Statement& bind(int index, const std::variant<T...>& value) {
    return std::visit([&](const auto& held) -> Statement& { return bind(index, held); }, value);
  }
  /// Binds values to parameters 1, 2, 3 ...
  template <typename... Values>
  Statement& bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }

  /// Advances to the next row. Returns false after the last row.
  bool step();
  /// Runs a statement that returns no rows, and resets it.
  void run();
  void reset();

  /// Columns of the current row count from 0.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  int column_count() const;

  sqlite3_stmt* handle() const { return statement_.get(); }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Connection& connection_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

/// An open database. Functions throw Error with the file's name, the cause and a remedy.
class Connection {
 public:
  enum class Access { kReadOnly, kReadWrite, kCreate };
  Connection(const std::filesystem::path& file, Access access);
  /// Creates a private database that is deleted with the connection.
  static std::unique_ptr<Connection> temporary(const std::filesystem::path& name_in_errors);
  /// Opens a file that only this process uses.
  static std::unique_ptr<Connection> private_file(const std::filesystem::path& file,
                                                  const std::filesystem::path& name_in_errors);

  const std::filesystem::path& file() const { return file_; }
  sqlite3* handle() const { return database_.get(); }
  void exec(const std::string& sql) const;
  std::int64_t integer(std::string_view sql) const;  ///< first column of the first row; 0 without rows
  std::string text(std::string_view sql) const;      ///< first column of the first row; empty without rows
  std::int64_t last_insert_id() const;
  std::int64_t changes() const;
  /// Rejects larger values, whether they are read, stored or computed.
  void limit_values(std::int64_t bytes) const;
  /// Reads the schema, and returns SQLite's result code. SQLite then also reads the statistics of ANALYZE, whose table
  /// can have generated columns, before anybody can check it: until this returns, calls of functions are few and short.
  int load_schema() const;
  /// Reads bytes of the file without taking a lock, rolling back a journal, or trusting its contents. Returns fewer
  /// bytes at the end of the file.
  std::string raw_bytes(std::int64_t offset, int count) const;
  std::int64_t raw_size() const;
  /// Takes a shared lock for raw_bytes() outside of a transaction. Returns false if another process is writing, or if
  /// the file cannot be locked.
  bool lock_raw() const;
  void unlock_raw() const;
  /// Returns where SQLite puts the journal, symbolic links resolved.
  std::filesystem::path journal() const;
  /// Returns true if the last call failed for a reason other than the values to be stored: disk full, I/O error,
  /// damaged file ...
  bool is_broken() const;
  /// Throws Error with a user-readable form of the last SQLite error on this connection.
  [[noreturn]] void fail() const;

 private:
  Connection(const std::string& name, const std::filesystem::path& file, int flags);
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Closer> database_;
};

/// Takes the write lock immediately and rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(const Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Connection& connection_;
  bool open_ = true;
};

}  // namespace kymo::store

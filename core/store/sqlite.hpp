// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// A thin layer over SQLite's C interface: ownership, bound parameters, and errors that name the file.
namespace kymo::store {

/// Text as it is stored: valid UTF-8 without NUL; each byte that is not becomes U+FFFD.
std::string clean_text(std::string_view text);
/// True for text without any byte that clean_text() could change or must look at closer.
bool is_clean_ascii(std::string_view text);

/// A message of SQLite as one line of bounded length: it may quote what a damaged or prepared file holds.
std::string one_line(std::string_view message);

class Connection;

/// A prepared statement; must not outlive its connection.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql);

  /// Parameters count from 1. A NaN is bound as NULL, which is what SQLite makes of it.
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
  /// Binds values to parameters 1, 2, 3 ...
  template <typename... Values>
  Statement& bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }

  /// Goes to the next row; false after the last.
  bool step();
  /// Runs a statement that returns no rows, and makes it ready to run again.
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

/// An open database. Throws Error with the file's name and what to do.
class Connection {
 public:
  enum class Access { kReadOnly, kReadWrite, kCreate };
  Connection(const std::filesystem::path& file, Access access);
  /// A private database that lives as long as the connection.
  static std::unique_ptr<Connection> temporary(const std::filesystem::path& name_in_errors);

  const std::filesystem::path& file() const { return file_; }
  sqlite3* handle() const { return database_.get(); }
  void exec(const std::string& sql) const;
  std::int64_t integer(std::string_view sql) const;  ///< first column of the first row; 0 without rows
  std::string text(std::string_view sql) const;      ///< the same; empty without rows
  std::int64_t last_insert_id() const;
  std::int64_t changes() const;
  /// Reads bytes of the file without taking a lock, rolling anything back, or believing anything in it; shorter at the
  /// end of the file.
  std::string raw_bytes(std::int64_t offset, int count) const;
  std::int64_t raw_size() const;
  /// True if the last call failed for a reason other than the values that were to be stored: disk full, input/output,
  /// damage ...
  bool is_broken() const;
  /// Throws what SQLite's last error on this connection means to a user.
  [[noreturn]] void fail() const;

 private:
  Connection(const std::string& name, const std::filesystem::path& file, int flags);
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Closer> database_;
};

/// Takes the write lock at once and rolls back unless committed.
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

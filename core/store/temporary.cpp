// SPDX-License-Identifier: Apache-2.0
#include "store/temporary.hpp"

#include <sqlite3.h>

#include <string_view>

#include "store/impl.hpp"
#include "store/limited.hpp"

namespace kymo::store {
namespace {

int authorize(void*, int action, const char*, const char* second, const char* database, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_CREATE_TABLE:
    case SQLITE_REINDEX:
    case SQLITE_ANALYZE:
      return database != nullptr && std::string_view(database) == "temp" ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

/// Restricts the statements that are prepared while it exists.
class OnlyTemporary {
 public:
  explicit OnlyTemporary(sqlite3* connection) : connection_(connection) {
    sqlite3_set_authorizer(connection_, authorize, nullptr);
  }
  ~OnlyTemporary() { sqlite3_set_authorizer(connection_, nullptr, nullptr); }
  OnlyTemporary(const OnlyTemporary&) = delete;
  OnlyTemporary& operator=(const OnlyTemporary&) = delete;

 private:
  sqlite3* connection_;
};

}  // namespace

struct TemporaryChanges::Impl {
  const Connection& connection;
  Limited limited;
};

TemporaryChanges::TemporaryChanges(const ResultsDatabase& database)
    : impl_(new Impl{*database.impl_->connection, {*database.impl_->connection, database.impl_->limits}}) {}

TemporaryChanges::~TemporaryChanges() = default;

std::int64_t TemporaryChanges::run(const std::string& sql, const std::vector<std::optional<measure::Value>>& values) {
  const Connection& connection = impl_->connection;
  const OnlyTemporary only_temporary(connection.handle());
  Statement statement(connection, sql);
  for (std::size_t i = 0; i < values.size(); ++i) statement.bind(static_cast<int>(i) + 1, values[i]);
  statement.run();
  return connection.changes();
}

std::int64_t TemporaryChanges::integer(const std::string& sql) { return impl_->connection.integer(sql); }

}  // namespace kymo::store

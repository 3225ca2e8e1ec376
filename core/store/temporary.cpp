// SPDX-License-Identifier: Apache-2.0
#include "store/temporary.hpp"

#include "store/impl.hpp"
#include "store/limited.hpp"

namespace kymo::store {
struct TemporaryChanges::Impl {
  const Connection& connection;
  std::vector<std::string>& undo;
  Limited limited;
};

TemporaryChanges::TemporaryChanges(const ResultsDatabase& database)
    : impl_(new Impl{*database.impl_->connection,
                     database.impl_->undo_temporary,
                     {*database.impl_->connection, database.impl_->limits}}) {}

TemporaryChanges::~TemporaryChanges() = default;

std::int64_t TemporaryChanges::run(const std::string& sql, const std::vector<std::optional<measure::Value>>& values) {
  const Connection& connection = impl_->connection;
  Statement statement(connection, sql);
  for (std::size_t i = 0; i < values.size(); ++i) statement.bind(static_cast<int>(i) + 1, values[i]);
  statement.run();
  return connection.changes();
}

std::int64_t TemporaryChanges::integer(const std::string& sql) { return impl_->connection.integer(sql); }

std::vector<std::string>& TemporaryChanges::undo() { return impl_->undo; }

}  // namespace kymo::store

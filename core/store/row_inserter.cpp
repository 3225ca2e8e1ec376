// SPDX-License-Identifier: Apache-2.0
#include "store/row_inserter.hpp"

#include <utility>

#include "base/text.hpp"

namespace kymo::store {

RowInserter::RowInserter(const Connection& connection, std::string table, std::vector<std::string> columns)
    : connection_(connection), table_(std::move(table)), columns_(std::move(columns)) {
  values_.reserve(kRowsPerStatement * columns_.size());
}

std::string RowInserter::sql_for(std::size_t rows) const {
  const std::string row = "(" + join(std::vector<std::string>(columns_.size(), "?"), ", ") + ")";
  return "INSERT OR IGNORE INTO " + table_ + " (" + join(columns_, ", ") + ") VALUES " +
         join(std::vector<std::string>(rows, row), ", ");
}

void RowInserter::flush() {
  if (values_.empty()) return;
  const std::size_t rows = values_.size() / columns_.size();
  std::unique_ptr<Statement> rest;
  if (rows < kRowsPerStatement) {
    rest = std::make_unique<Statement>(connection_, sql_for(rows));
  } else if (!full_) {
    full_ = std::make_unique<Statement>(connection_, sql_for(rows));
  }
  Statement& statement = rest ? *rest : *full_;
  int index = 0;
  for (const Value& value : values_) {
    std::visit([&](const auto& content) { statement.bind(++index, content); }, value);
  }
  statement.run();
  dropped_ += static_cast<std::int64_t>(rows) - connection_.changes();
  values_.clear();
}

std::int64_t RowInserter::finish() {
  flush();
  return dropped_;
}

}  // namespace kymo::store

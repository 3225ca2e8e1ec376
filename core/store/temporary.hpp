// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/plan.hpp"
#include "store/results.hpp"

namespace kymo::store {

/// Creates, fills and drops temporary tables and views of a database, which its later queries read. The limits of a
/// query hold for all changes together.
class TemporaryChanges {
 public:
  explicit TemporaryChanges(const ResultsDatabase& database);
  ~TemporaryChanges();

  /// Runs the first statement of a text, which may be that of a view of the file, with values for ?1, ?2 ... Returns
  /// the number of changed rows. Throws Error.
  std::int64_t run(const std::string& sql, const std::vector<std::optional<measure::Value>>& values = {});
  /// First column of the first row of a query; 0 without rows.
  std::int64_t integer(const std::string& sql);
  /// Statements that undo changes; they are kept with the database.
  std::vector<std::string>& undo();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::store

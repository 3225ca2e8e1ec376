// SPDX-License-Identifier: Apache-2.0
#include "export/pages.hpp"

#include <limits>

namespace kymo::exports {

using store::ResultsDatabase;

Pages::Pages(const ResultsDatabase& database, const Target& target, const std::string& table,
             const std::string& columns, const std::string& order)
    : database_(database), target_(target), last_(std::numeric_limits<std::int64_t>::min()) {
  sql_ = "SELECT " + columns + ", " + order + " FROM main.\"" + table +
         "\" WHERE run_id = CAST(:run AS INTEGER) AND rank = CAST(:rank AS INTEGER) AND pass = :pass AND " + order +
         " > CAST(:after AS INTEGER) ORDER BY " + order + " LIMIT " + std::to_string(kRowsOfPage);
}

std::optional<Row> Pages::next() {
  if (position_ == page_.rows.size()) {
    if (at_end_) return std::nullopt;
    auto parameters = target_.parameters();
    parameters.emplace_back("after", std::to_string(last_));
    page_ = database_.query(sql_, parameters);
    position_ = 0;
    at_end_ = page_.rows.size() < kRowsOfPage;
    if (page_.rows.empty()) return std::nullopt;
    last_ = page_.rows.back().back().integer;
  }
  return Row(page_.rows[position_++]);
}

const std::string& TextsById::text(std::int64_t id) {
  const auto [found, is_new] = texts_.try_emplace(id);
  if (is_new) {
    const auto rows =
        database_
            .query("SELECT text FROM main.string WHERE string_id = CAST(:id AS INTEGER)", {{"id", std::to_string(id)}})
            .rows;
    if (!rows.empty()) found->second = rows[0][0].text;
  }
  return found->second;
}

}  // namespace kymo::exports

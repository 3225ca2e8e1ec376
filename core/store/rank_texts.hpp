// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "event/texts.hpp"
#include "store/sqlite.hpp"

namespace kymo::store {

/// The strings of a pass as rows of table string: cleaned, unique, and only those that rows refer to.
class RankTexts {
 public:
  RankTexts(const event::Texts& texts, const std::vector<std::string>& phases);

  /// Returns the row id of a string, or nullopt for kNoText.
  std::optional<std::int64_t> text(event::TextId id) {
    return id == event::kNoText ? std::nullopt : std::optional(used(row_of(id)));
  }
  /// The same for required names: an event without a name is stored as `(unnamed)`.
  std::int64_t name(event::TextId id) { return id == event::kNoText ? intern("(unnamed)") : used(row_of(id)); }
  /// Returns the row id of a phase name by phase index, or nullopt for -1.
  std::optional<std::int64_t> phase(std::int32_t index) {
    const bool known = index >= 0 && static_cast<std::size_t>(index) < phases_.size();
    return known ? text_of_row(phases_[static_cast<std::size_t>(index)]) : std::nullopt;
  }
  /// Returns the row id of a string that the collectors did not intern.
  std::int64_t intern(const std::string& text);
  /// Writes table string. Call it last.
  void write(const Connection& connection) const;

 private:
  event::TextId row_of(event::TextId id) { return id < rows_.size() ? rows_[id] : no_text_; }
  std::optional<std::int64_t> text_of_row(event::TextId row) {
    return row == event::kNoText ? std::nullopt : std::optional(used(row));
  }
  std::int64_t used(event::TextId row) {
    used_[row] = 1;
    return row;
  }
  event::TextId add(const std::string& text);

  event::Texts texts_;
  std::vector<event::TextId> rows_;    // by TextId of the pass
  std::vector<event::TextId> phases_;  // by phase index
  std::vector<char> used_;             // by row
  event::TextId no_text_;              // replaces invalid ids
};

}  // namespace kymo::store

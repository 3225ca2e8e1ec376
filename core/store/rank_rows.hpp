// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "event/records.hpp"
#include "store/row_source.hpp"

/// Writing what a pass observed as rows of a rank file: each table is a list of columns over a vector of records.
namespace kymo::store {

/// The texts of a pass as rows of string: cleaned, each once, and only those that rows refer to.
class RankTexts {
 public:
  RankTexts(const event::Texts& texts, const std::vector<std::string>& phases);

  /// The row of a text; nothing for kNoText.
  std::optional<std::int64_t> text(event::TextId id) { return id == event::kNoText ? std::nullopt : std::optional(used(row_of(id))); }
  /// The same where a name must be: an event without one stays, as `(unnamed)`.
  std::int64_t name(event::TextId id) { return id == event::kNoText ? intern("(unnamed)") : used(row_of(id)); }
  /// The row of a phase's name by the phase's index; nothing for -1.
  std::optional<std::int64_t> phase(std::int32_t index) {
    const bool known = index >= 0 && static_cast<std::size_t>(index) < phases_.size();
    return known ? text_of_row(phases_[static_cast<std::size_t>(index)]) : std::nullopt;
  }
  /// The row of a text that was not interned by the collectors.
  std::int64_t intern(const std::string& text);
  /// Writes table string; the last thing to do.
  void write(const Connection& connection) const;

 private:
  event::TextId row_of(event::TextId id) { return id < rows_.size() ? rows_[id] : no_text_; }
  std::optional<std::int64_t> text_of_row(event::TextId row) { return row == event::kNoText ? std::nullopt : std::optional(used(row)); }
  std::int64_t used(event::TextId row) {
    used_[row] = 1;
    return row;
  }
  event::TextId add(const std::string& text);

  event::Texts texts_;
  std::vector<event::TextId> rows_;    // by TextId of the pass
  std::vector<event::TextId> phases_;  // by index
  std::vector<char> used_;             // by row
  event::TextId no_text_;              // what a number stands for that is none of a text
};

/// Whose rows are written, and where.
struct RankTarget {
  const Connection& connection;
  std::int64_t run_id;
  int rank;
  std::string pass;
  RankTexts texts;
  std::map<std::string, std::int64_t> dropped = {};  // by table: rows that it did not admit, as their key was there already
};

/// A value of a row. Texts are borrowed from the record.
class RowValue {
 public:
  template <typename T>
  requires std::is_integral_v<T> RowValue(T value) : type_(Type::kInteger), integer_(static_cast<std::int64_t>(value)) {}
  RowValue(double value) : type_(Type::kReal), real_(value) {}
  RowValue(const char* text) : type_(Type::kText), text_(text) {}
  RowValue(const std::string& text) : type_(Type::kText), text_(text) {}
  template <typename T>
  RowValue(const std::optional<T>& value) : RowValue(value ? RowValue(*value) : RowValue()) {}

  static RowValue none() { return RowValue(); }
  /// NULL for -1, which stands for none.
  static RowValue or_null(std::int64_t value) { return value == -1 ? none() : RowValue(value); }

  void put(sqlite3_context* result) const {
    switch (type_) {
      case Type::kNull:
        return put_null(result);
      case Type::kInteger:
        return store::put(result, integer_);
      case Type::kReal:
        return store::put(result, real_);
      case Type::kText:
        return store::put(result, text_);
    }
  }

 private:
  enum class Type : std::uint8_t { kNull, kInteger, kReal, kText };
  RowValue() = default;

  Type type_ = Type::kNull;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::string_view text_;
};

/// A record whose row is being written; `sequence` is its place in its vector.
template <typename T>
struct Entry {
  const T& item;
  std::int64_t sequence;
  RankTexts& texts;
};

template <typename T>
struct RowColumn {
  const char* name;
  RowValue (*value)(const Entry<T>&);
};

/// The records of a vector, or those that `admits` lets through, as rows.
template <typename T>
class VectorRows final : public RowSource {
 public:
  using Admits = bool (*)(const T&);
  VectorRows(const std::vector<T>& items, const std::vector<RowColumn<T>>& columns, RankTexts& texts, Admits admits)
      : items_(items), columns_(columns), texts_(texts), admits_(admits) {}

  bool next() override {
    do {
      ++at_;
    } while (at_ < items_.size() && admits_ != nullptr && !admits_(items_[at_]));
    return at_ < items_.size();
  }
  void put(int column, sqlite3_context* result) override {
    const Entry<T> entry{items_[at_], static_cast<std::int64_t>(at_), texts_};
    columns_[static_cast<std::size_t>(column)].value(entry).put(result);
  }
  std::int64_t count() const {
    std::int64_t count = 0;
    for (const T& item : items_) count += admits_ == nullptr || admits_(item) ? 1 : 0;
    return count;
  }

 private:
  const std::vector<T>& items_;
  const std::vector<RowColumn<T>>& columns_;
  RankTexts& texts_;
  Admits admits_;
  std::size_t at_ = static_cast<std::size_t>(-1);
};

/// Writes a table of the pass: run_id, rank and pass, and then `columns`.
template <typename T>
void write_rows(RankTarget& to, const char* table, const std::vector<T>& items, const std::vector<RowColumn<T>>& columns,
                typename VectorRows<T>::Admits admits = nullptr) {
  if (items.empty()) return;
  VectorRows<T> rows(items, columns, to.texts, admits);
  std::vector<std::string> names;
  for (const RowColumn<T>& column : columns) names.emplace_back(column.name);
  const std::int64_t stored =
      insert_rows(to.connection, table, {{"run_id", to.run_id}, {"rank", std::int64_t{to.rank}}, {"pass", to.pass}}, names, rows);
  to.dropped[table] += rows.count() - stored;
}

/// Classes of kernels and modules of scopes.
void write_text_facts(RankTarget& to, const event::Derived& derived);
/// What is derived from the events of a pass, and clock_sync: little, whatever the pass did.
void write_trace_summary(RankTarget& to, const event::PassRecord& record);
void write_memory_summary(RankTarget& to, const event::PassRecord& record);
/// The events themselves.
void write_trace_events(RankTarget& to, const event::Trace& trace);
void write_memory_events(RankTarget& to, const event::PassRecord& record);

/// kernel, memcpy, memset: the table of such activities too.
const char* word(event::ActivityKind kind);

/// How many rows the events take, by table; tables without any are left out.
std::map<std::string, std::int64_t> count_events(const event::PassRecord& record);

}  // namespace kymo::store

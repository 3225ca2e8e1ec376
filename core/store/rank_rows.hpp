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

/// Writes the records of a pass as rows of a rank file. Each table is a list of columns over a vector of records.
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

/// Destination of the rows and the rank that they belong to.
struct RankTarget {
  const Connection& connection;
  std::int64_t run_id;
  int rank;
  std::string pass;
  RankTexts texts;
  std::map<std::string, std::int64_t> dropped =
      {};  // number of rows per table that were rejected because their key already existed
};

/// A value of a row. Strings are references into the record.
class RowValue {
 public:
  template <typename T>
    requires std::is_integral_v<T>
  RowValue(T value) : type_(Type::kInteger), integer_(static_cast<std::int64_t>(value)) {}
  RowValue(double value) : type_(Type::kReal), real_(value) {}
  RowValue(const char* text) : type_(Type::kText), text_(text) {}
  RowValue(const std::string& text) : type_(Type::kText), text_(text) {}
  template <typename T>
  RowValue(const std::optional<T>& value) : RowValue(value ? RowValue(*value) : RowValue()) {}

  static RowValue none() { return RowValue(); }
  /// NULL for -1, which means none.
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

/// A record whose row is being written; `sequence` is its index in the vector.
template <typename T>
struct Entry {
  const T& item;
  std::int64_t sequence;
  RankTexts& texts;
};

/// A column and a function that reads its value from a record: a lambda without captures, which is compiled into one
/// function with the call that passes the value on.
template <typename T>
class RowColumn {
 public:
  template <typename Value>
  RowColumn(const char* name, Value)
      : name_(name), put_([](const Entry<T>& entry, sqlite3_context* result) { Value{}(entry).put(result); }) {
    static_assert(std::is_empty_v<Value>);
  }
  /// NULL in every row.
  static RowColumn null(const char* name) { return RowColumn(name); }

  const char* name() const { return name_; }
  bool is_null() const { return put_ == nullptr; }
  void put(const Entry<T>& entry, sqlite3_context* result) const { put_(entry, result); }

 private:
  explicit RowColumn(const char* name) : name_(name), put_(nullptr) {}

  const char* name_;
  void (*put_)(const Entry<T>&, sqlite3_context*);
};

/// The records of a vector as rows, optionally filtered by `filter`.
template <typename T>
class VectorRows final : public RowSource {
 public:
  using Filter = bool (*)(const T&);
  VectorRows(const std::vector<T>& items, const std::vector<RowColumn<T>>& columns, RankTexts& texts, Filter filter)
      : items_(items), columns_(columns), texts_(texts), filter_(filter) {}

  bool next() override {
    do {
      ++at_;
    } while (at_ < items_.size() && filter_ != nullptr && !filter_(items_[at_]));
    if (at_ >= items_.size()) return false;
    ++count_;
    return true;
  }
  void put(int column, sqlite3_context* result) override {
    columns_[static_cast<std::size_t>(column)].put({items_[at_], static_cast<std::int64_t>(at_), texts_}, result);
  }
  /// Number of rows so far.
  std::int64_t count() const { return count_; }

 private:
  const std::vector<T>& items_;
  const std::vector<RowColumn<T>>& columns_;
  RankTexts& texts_;
  Filter filter_;
  std::size_t at_ = static_cast<std::size_t>(-1);
  std::int64_t count_ = 0;
};

/// Writes a table of the pass: run_id, rank and pass, followed by `columns`.
template <typename T>
void write_rows(RankTarget& to, const char* table, const std::vector<T>& items,
                const std::vector<RowColumn<T>>& columns, typename VectorRows<T>::Filter filter = nullptr) {
  if (items.empty()) return;
  std::vector<FixedColumn> fixed{{"run_id", to.run_id}, {"rank", std::int64_t{to.rank}}, {"pass", to.pass}};
  std::vector<RowColumn<T>> read;
  std::vector<std::string> names;
  for (const RowColumn<T>& column : columns) {
    if (column.is_null()) {
      fixed.push_back({column.name(), nullptr});
    } else {
      read.push_back(column);
      names.emplace_back(column.name());
    }
  }
  VectorRows<T> rows(items, read, to.texts, filter);
  const std::int64_t stored = insert_rows(to.connection, table, fixed, names, rows);
  to.dropped[table] += rows.count() - stored;
}

/// Writes kernel classes and scope modules.
void write_text_facts(RankTarget& to, const event::Derived& derived);
/// Writes what is derived from the events of a pass, and clock_sync. Its size does not depend on the number of events.
void write_trace_summary(RankTarget& to, const event::PassRecord& record);
void write_memory_summary(RankTarget& to, const event::PassRecord& record);
/// Writes the events themselves.
void write_trace_events(RankTarget& to, const event::Trace& trace);
void write_collectives(RankTarget& to, const std::vector<event::Collective>& collectives);
void write_memory_events(RankTarget& to, const event::PassRecord& record);

/// kernel, memcpy, memset; also the names of their tables.
const char* to_string(event::ActivityKind kind);

/// Returns the number of event rows by table; empty tables are omitted.
std::map<std::string, std::int64_t> count_events(const event::PassRecord& record);

}  // namespace kymo::store

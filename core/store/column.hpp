// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/rank_texts.hpp"
#include "store/row_source.hpp"

/// Columns of declared tables: how a row's value is read from a record.
namespace kymo::store {

/// A value of a row. Strings are references into the record.
class RowValue {
 public:
  template <typename T>
    requires std::is_integral_v<T>
  RowValue(T value) : type_(Type::kInteger), integer_(static_cast<std::int64_t>(value)) {}
  template <typename T>
    requires std::is_enum_v<T>
  RowValue(T value) : RowValue(to_string(value)) {}
  RowValue(double value) : type_(Type::kReal), real_(value) {}  ///< NaN becomes NULL
  RowValue(const char* text) : type_(Type::kText), text_(text) {}
  RowValue(const std::string& text) : type_(Type::kText), text_(text) {}
  template <typename T>
  RowValue(const std::optional<T>& value) : RowValue(value ? RowValue(*value) : RowValue()) {}

  static RowValue null() { return RowValue(); }

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
template <typename Record>
struct Entry {
  const Record& item;
  std::int64_t sequence;
  RankTexts& texts;
};

/// A column and a function that reads its value from a record: a lambda without captures, which is compiled into one
/// function with the call that passes the value on. Create it with the functions below.
template <typename Record>
class Column {
 public:
  /// Reads the value and passes it to SQLite.
  using Put = void (*)(const Entry<Record>&, sqlite3_context*);

  template <typename Value>
  Column(const char* name, Value, bool refers_to_string = false)
      : name_(name),
        refers_to_string_(refers_to_string),
        put_([](const Entry<Record>& entry, sqlite3_context* result) { RowValue(Value{}(entry)).put(result); }) {
    static_assert(std::is_empty_v<Value>);
    static_assert(!std::is_same_v<std::invoke_result_t<Value, const Entry<Record>&>, std::string>,
                  "return RowValue: the string must outlive the call");
  }
  /// If no record of a pass has a value, the column is the constant NULL, which costs nothing per row.
  Column rarely_set(bool (*has_value)(const Record&)) const {
    Column copy = *this;
    copy.has_value_ = has_value;
    return copy;
  }

  const char* name() const { return name_; }
  bool refers_to_string() const { return refers_to_string_; }
  Put put() const { return put_; }
  bool may_have_values(const std::vector<Record>& records) const {
    return has_value_ == nullptr || std::any_of(records.begin(), records.end(), has_value_);
  }

 private:
  const char* name_;
  bool refers_to_string_;
  Put put_;
  bool (*has_value_)(const Record&) = nullptr;
};

template <typename Member>
struct MemberOf;
template <typename Record, typename Value>
struct MemberOf<Value Record::*> {
  using Type = Record;
};
template <auto member>
using RecordOf = typename MemberOf<decltype(member)>::Type;

/// The value of a member; enumerations are stored by their names.
template <auto member>
Column<RecordOf<member>> column(const char* name) {
  return {name, [](const auto& entry) { return RowValue(entry.item.*member); }};
}
/// NULL for -1, which means none.
template <auto member>
Column<RecordOf<member>> column_or_null(const char* name) {
  return {name,
          [](const auto& entry) { return entry.item.*member == -1 ? RowValue::null() : RowValue(entry.item.*member); }};
}
/// The row of table string of a TextId; NULL for kNoText.
template <auto member>
Column<RecordOf<member>> string_column(const char* name) {
  return {name, [](const auto& entry) { return entry.texts.text(entry.item.*member); }, true};
}
/// The same for a required name.
template <auto member>
Column<RecordOf<member>> name_column(const char* name) {
  return {name, [](const auto& entry) { return entry.texts.name(entry.item.*member); }, true};
}
/// The row of table string of a phase index.
template <auto member>
Column<RecordOf<member>> phase_column(const char* name) {
  return {name, [](const auto& entry) { return entry.texts.phase(entry.item.*member); }, true};
}
/// The index of the record.
template <typename Record>
Column<Record> sequence_column(const char* name = "sequence") {
  return {name, [](const auto& entry) { return entry.sequence; }};
}

}  // namespace kymo::store

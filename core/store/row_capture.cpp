// SPDX-License-Identifier: Apache-2.0
#include "store/row_capture.hpp"

#include <new>

#include "base/text.hpp"

namespace kymo::store {
namespace {

constexpr const char* kFunction = "kymo_row";
constexpr int kAnyCount = -1;
constexpr std::size_t kBatchRows = 32;

}  // namespace

void Cells::clear() {
  cells_.clear();
  bytes_.clear();
}

void Cells::add(sqlite3_value* value) {
  Cell cell;
  cell.integer = 0;
  cell.size = 0;
  cell.type = sqlite3_value_type(value);
  if (cell.type == SQLITE_INTEGER) {
    cell.integer = sqlite3_value_int64(value);
  } else if (cell.type == SQLITE_FLOAT) {
    cell.real = sqlite3_value_double(value);
  } else if (cell.type != SQLITE_NULL) {
    // The count converts a string to UTF-8; as a blob, SQLite need not copy it to append a terminator.
    cell.size = static_cast<std::uint32_t>(sqlite3_value_bytes(value));
    const auto* begin = static_cast<const char*>(sqlite3_value_blob(value));
    if (begin == nullptr && cell.size > 0) throw std::bad_alloc();
    cell.begin = bytes_.size();
    if (begin != nullptr) bytes_.append(begin, cell.size);
  }
  cells_.push_back(cell);
}

void Cells::put_other(const Cell& cell, sqlite3_context* result) const {
  if (cell.type == SQLITE_FLOAT) return store::put(result, cell.real);
  if (cell.type == SQLITE_TEXT) return store::put(result, std::string_view(bytes_).substr(cell.begin, cell.size));
  sqlite3_result_blob64(result, bytes_.data() + cell.begin, cell.size, SQLITE_STATIC);
}

RowCapture::RowCapture(const Connection& source) : source_(source) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  if (sqlite3_create_function_v2(source.handle(), kFunction, kAnyCount, kFlags, this, take, nullptr, nullptr,
                                 nullptr) != SQLITE_OK)
    source.fail();
}

RowCapture::~RowCapture() {
  sqlite3_create_function_v2(source_.handle(), kFunction, kAnyCount, SQLITE_UTF8, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
}

std::string RowCapture::select_sql(const std::string& table, const std::vector<std::string>& columns,
                                   const std::string& condition) {
  const std::string call = std::string(kFunction) + "(" + join(columns, ", ") + ")";
  const std::string from = "SELECT 1 FROM main." + table + " WHERE ";
  if (condition.empty()) return from + call;
  // The condition occurs twice: the first one lets SQLite use an index, but only CASE guarantees that the function sees
  // no other rows.
  return from + "(" + condition + ") AND CASE WHEN " + condition + " THEN " + call + " ELSE 0 END";
}

void RowCapture::begin() {
  rows_ = at_ = 0;
  cells_.clear();
  at_end_ = false;
}

bool RowCapture::next(Statement& select) {
  if (++at_ < rows_) return true;
  rows_ = at_ = 0;
  cells_.clear();
  if (!at_end_) at_end_ = !select.step();
  return rows_ > 0;
}

void RowCapture::take(sqlite3_context* context, int count, sqlite3_value** values) {
  auto& capture = *static_cast<RowCapture*>(sqlite3_user_data(context));
  try {
    capture.columns_ = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < capture.columns_; ++i) capture.cells_.add(values[i]);
    sqlite3_result_int(context, ++capture.rows_ == kBatchRows ? 1 : 0);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);  // exceptions must not propagate through SQLite
  }
}

}  // namespace kymo::store

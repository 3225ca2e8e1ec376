// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event/records.hpp"
#include "store/column.hpp"

/// Declarations of the tables that workers fill. Writing, import, merging, row counts and retention are derived from
/// them; the migrations in schemas/ create the tables.
namespace kymo::store {

/// What the rows of a table belong to, besides the run.
enum class RowOwner {
  kPass,    ///< columns run_id, rank and pass
  kRank,    ///< columns run_id and rank; rows of the time pass take precedence over those of other passes
  kString,  ///< a row of table string: one row for all runs
};

/// Relation of an event row to a step, for `--keep one-step`.
enum class Extent {
  kNoEvent,   ///< not an event: always retained
  kStep,      ///< has a column step
  kMoment,    ///< has a column step; rows at defined moments are also retained
  kTime,      ///< from start_ns to end_ns
  kLifetime,  ///< from alloc_ns to free_ns, which is NULL if it was never freed
  kStack,     ///< referenced by allocations
  kFrame,     ///< referenced by stacks
};

/// Destination of the rows and the rank that they belong to.
struct RankTarget {
  const Connection& connection;
  std::int64_t run_id;
  int rank;
  std::string pass;
  RankTexts texts;
  std::vector<event::DroppedRecords> dropped = {};  ///< rows that were not written
};

/// A declared table.
class Table {
 public:
  struct ColumnName {
    std::string name;
    bool refers_to_string;
  };

  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  virtual ~Table() = default;

  const std::string& name() const { return name_; }
  RowOwner owner() const { return owner_; }
  Extent extent() const { return extent_; }
  bool is_event() const { return extent_ != Extent::kNoEvent; }
  /// The columns after those of the owner.
  const std::vector<ColumnName>& columns() const { return columns_; }
  bool refers_to_string(const std::string& column) const;

  /// Writes the rows of a pass.
  virtual void write(RankTarget& to, const event::PassRecord& record) const = 0;
  /// Returns the number of rows that write() would write.
  virtual std::int64_t count(const event::PassRecord& record) const = 0;

 protected:
  Table(std::string name, RowOwner owner, Extent extent) : name_(std::move(name)), owner_(owner), extent_(extent) {}

  /// Inserts the rows of a source of `columns`; `constant_null` are columns that are NULL in every row. Returns the
  /// number of inserted rows.
  std::int64_t insert(const RankTarget& to, const std::vector<std::string>& columns,
                      const std::vector<std::string>& constant_null, RowSource& rows) const;
  /// Records the number of rows with duplicate keys.
  void add_dropped(RankTarget& to, std::int64_t rows) const;

  std::vector<ColumnName> columns_;

 private:
  std::string name_;
  RowOwner owner_;
  Extent extent_;
};

/// The records of a vector as rows, optionally filtered by `filter`.
template <typename Record>
class VectorRows final : public RowSource {
 public:
  using Filter = bool (*)(const Record&);
  VectorRows(const std::vector<Record>& records, const std::vector<typename Column<Record>::Put>& columns,
             RankTexts& texts, Filter filter)
      : records_(records), columns_(columns), texts_(texts), filter_(filter) {}

  bool next() override {
    do {
      ++at_;
    } while (at_ < records_.size() && filter_ != nullptr && !filter_(records_[at_]));
    if (at_ >= records_.size()) return false;
    ++count_;
    return true;
  }
  void put(int column, sqlite3_context* result) override {
    columns_[static_cast<std::size_t>(column)]({records_[at_], static_cast<std::int64_t>(at_), texts_}, result);
  }
  /// Number of rows so far.
  std::int64_t count() const { return count_; }

 private:
  const std::vector<Record>& records_;
  const std::vector<typename Column<Record>::Put>& columns_;
  RankTexts& texts_;
  Filter filter_;
  std::size_t at_ = static_cast<std::size_t>(-1);
  std::int64_t count_ = 0;
};

/// A table whose rows are records of one type. `Records` returns them as a vector, by reference or by value.
template <typename Record, typename Records>
class RecordTable final : public Table {
 public:
  using Filter = typename VectorRows<Record>::Filter;
  RecordTable(const char* name, RowOwner owner, Extent extent, Records records, std::vector<Column<Record>> columns,
              Filter filter)
      : Table(name, owner, extent), records_(records), readers_(std::move(columns)), filter_(filter) {
    for (const Column<Record>& column : readers_) columns_.push_back({column.name(), column.refers_to_string()});
  }

  void write(RankTarget& to, const event::PassRecord& record) const override {
    const std::vector<Record>& records = records_(record);
    if (records.empty() || (filter_ != nullptr && std::none_of(records.begin(), records.end(), filter_))) return;
    std::vector<typename Column<Record>::Put> read;
    std::vector<std::string> names;
    std::vector<std::string> constant_null;
    for (const Column<Record>& column : readers_) {
      const bool varies = column.may_have_values(records);
      (varies ? names : constant_null).emplace_back(column.name());
      if (varies) read.push_back(column.put());
    }
    VectorRows<Record> rows(records, read, to.texts, filter_);
    const std::int64_t stored = insert(to, names, constant_null, rows);
    add_dropped(to, rows.count() - stored);
  }

  std::int64_t count(const event::PassRecord& record) const override {
    const std::vector<Record>& records = records_(record);
    return filter_ == nullptr ? static_cast<std::int64_t>(records.size())
                              : std::count_if(records.begin(), records.end(), filter_);
  }

 private:
  Records records_;
  std::vector<Column<Record>> readers_;
  Filter filter_;
};

/// Declares a table of the pass. `records` gets a PassRecord; `filter` selects records.
template <typename Record, typename Records>
auto declare_table(const char* name, Extent extent, Records records, std::vector<Column<Record>> columns,
                   bool (*filter)(const Record&) = nullptr, RowOwner owner = RowOwner::kPass) {
  return std::make_unique<const RecordTable<Record, Records>>(name, owner, extent, records, std::move(columns), filter);
}

/// The same for the records in a member of a PassRecord or of one of its parts.
template <auto member, typename Record = typename std::remove_cvref_t<
                           decltype(event::member_of(std::declval<const event::PassRecord&>(), member))>::value_type>
auto declare_table(const char* name, Extent extent, std::vector<Column<Record>> columns,
                   std::type_identity_t<bool (*)(const Record&)> filter = nullptr, RowOwner owner = RowOwner::kPass) {
  return declare_table<Record>(
      name, extent, [](const event::PassRecord& record) -> const auto& { return event::member_of(record, member); },
      std::move(columns), filter, owner);
}

using Tables = std::vector<std::unique_ptr<const Table>>;

/// Every table that workers fill and rank files contain, except string, rank and device.
const Tables& observed_tables();
/// Returns nullptr for other tables.
const Table* find_observed_table(const std::string& name);

/// The declarations by subject, appended to `tables`.
void add_measurement_tables(Tables& tables);
void add_trace_tables(Tables& tables);
void add_memory_tables(Tables& tables);

}  // namespace kymo::store

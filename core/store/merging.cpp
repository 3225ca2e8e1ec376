// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/copy_rows.hpp"
#include "store/impl.hpp"
#include "store/open.hpp"
#include "store/rank_import.hpp"
#include "store/schema_version.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

/// A table with rows of runs in the source.
struct TableOfRuns {
  std::string name;
  std::vector<std::string> shared;  ///< columns that the target has too
};

/// State of a merge: source, target, and the mapping of ids.
struct Merge {
  const Connection& source;
  const Connection& target;
  std::vector<TableOfRuns> tables;
  IdMap plugins;
  IdMap devices;
  IdMap invocations;
  IdMap texts;
  MergeReport report;
};

std::vector<std::int64_t> ids_of(const Connection& connection, const std::string& sql) {
  std::vector<std::int64_t> ids;
  Statement statement(connection, sql);
  while (statement.step()) ids.push_back(statement.integer(0));
  return ids;
}

/// A newer version may classify kernels better.
bool source_is_newer(const Merge& merge) {
  return version_numbers(meta_value(merge.source, "kymo_version")) >
         version_numbers(meta_value(merge.target, "kymo_version"));
}

/// Copies the rows of `table` selected by `where`, which has one parameter, `id`.
std::int64_t copy_where(const Merge& merge, const std::string& table, const std::vector<std::string>& columns,
                        const std::string& where, std::int64_t id, const std::vector<Translation>& translations) {
  Statement select(merge.source, select_sql(table, columns) + " WHERE " + where + " ORDER BY 1");
  select.bind(1, id);
  return copy_rows(select, {merge.target, table, columns}, translations);
}

/// A rank and pass with rows in a table.
struct RankPass {
  std::int64_t rank = 0;
  std::string pass;
};

/// Returns those of a run in an event table, with one index seek per pair instead of a scan. Returns nullopt if the
/// file's ranks are not numbers in ascending order.
std::optional<std::vector<RankPass>> passes_in(const Connection& source, const std::string& table,
                                               std::int64_t run_id) {
  std::vector<RankPass> passes;
  const std::string rows = "SELECT * FROM (SELECT rank, pass FROM main." + table + " WHERE run_id = ?1 AND ";
  // A row value comparison would start at the pair itself and read all of its rows.
  Statement next(source, rows + "rank = ?2 AND pass > ?3 ORDER BY pass LIMIT 1) UNION ALL " + rows +
                             "rank > ?2 ORDER BY rank, pass LIMIT 1) LIMIT 1");
  next.bind_all(run_id, std::numeric_limits<std::int64_t>::min(), "");
  while (next.step()) {
    const RankPass found{next.integer(0), next.text(1)};
    // Only a manipulated file contains other values.
    const bool in_order =
        passes.empty() || std::tie(passes.back().rank, passes.back().pass) < std::tie(found.rank, found.pass);
    if (!in_order) return std::nullopt;
    passes.push_back(found);
    next.reset();
    next.bind_all(run_id, found.rank, found.pass);
  }
  return passes;
}

/// Copies the rows of an event table. Values that all rows of a pass share are not read from each row.
std::int64_t copy_events(const Merge& merge, const Table& table, const std::vector<std::string>& shared,
                         const std::vector<RankPass>& passes, std::int64_t run_id, std::int64_t added) {
  std::vector<std::string> columns = shared;
  for (const char* fixed : {"run_id", "rank", "pass"}) std::erase(columns, fixed);
  std::vector<Translation> translations;
  translate_texts(table, columns, merge.texts, translations);
  RowCapture capture(merge.source);
  Statement select(merge.source,
                   RowCapture::select_sql(table.name(), columns, "run_id = ?1 AND rank = ?2 AND pass = ?3"));
  std::int64_t unknown = 0;
  for (const auto& [rank, pass] : passes) {
    select.bind_all(run_id, rank, pass);
    unknown += copy_rows(select, capture,
                         {merge.target, table.name(), columns, {{"run_id", added}, {"rank", rank}, {"pass", pass}}},
                         translations);
    select.reset();
  }
  return unknown;
}

std::vector<std::string> columns_without(const Merge& merge, const std::string& table, const std::string& left_out) {
  std::vector<std::string> columns = common_columns(merge.source, merge.target, table);
  std::erase(columns, left_out);
  return columns;
}

void merge_plugins(Merge& merge) {
  const auto columns = columns_without(merge, "plugin", "plugin_id");
  for (const std::int64_t id : ids_of(merge.source, "SELECT plugin_id FROM main.plugin ORDER BY plugin_id")) {
    copy_where(merge, "plugin", columns, "plugin_id = ?", id, {});
    Statement sha256(merge.source, "SELECT sha256 FROM main.plugin WHERE plugin_id = ?");
    sha256.bind(1, id).step();
    Statement there(merge.target, "SELECT plugin_id FROM main.plugin WHERE sha256 = ?");
    if (there.bind(1, sha256.text(0)).step()) merge.plugins.set(id, there.integer(0));
  }
}

void merge_devices(Merge& merge) {
  for (const std::int64_t id : ids_of(merge.source, "SELECT device_id FROM main.device ORDER BY device_id")) {
    merge.devices.set(id, import_device(merge.target, merge.source, id));
  }
}

std::optional<std::int64_t> find_invocation(const Merge& merge, const std::string& uuid) {
  Statement there(merge.target, "SELECT invocation_id FROM main.invocation WHERE uuid = ?");
  return there.bind(1, uuid).step() ? std::optional<std::int64_t>(there.integer(0)) : std::nullopt;
}

void merge_invocation(Merge& merge, std::int64_t id) {
  Statement source(merge.source, "SELECT uuid, ended_at, exit_code FROM main.invocation WHERE invocation_id = ?");
  source.bind(1, id).step();
  const std::string uuid = source.text(0);
  auto there = find_invocation(merge, uuid);
  if (!there) {
    copy_where(merge, "invocation", columns_without(merge, "invocation", "invocation_id"), "invocation_id = ?", id, {});
    there = find_invocation(merge, uuid);
    if (!there)
      throw Error("database " + quote(merge.source.file().string()) +
                  " contains an invocation without required values; nothing was merged");
    ++merge.report.invocations_added;
  } else if (!source.is_null(1)) {
    // It was still running when it was merged before.
    Statement(merge.target,
              "UPDATE main.invocation SET ended_at = ?, exit_code = ? WHERE invocation_id = ? AND ended_at IS NULL")
        .bind_all(source.text(1), source.is_null(2) ? std::optional<std::int64_t>() : source.integer(2), *there)
        .run();
  }
  merge.invocations.set(id, *there);
  for (const char* table : {"environment", "planned_run"}) {
    const auto columns = common_columns(merge.source, merge.target, table);
    copy_where(merge, table, columns, "invocation_id = ?", id,
               {{position_of(columns, "invocation_id"), &merge.invocations}});
  }
}

bool is_there(const Merge& merge, std::int64_t run_id) {
  Statement source(merge.source, "SELECT invocation_id, sequence FROM main.run WHERE run_id = ?");
  source.bind(1, run_id).step();
  const std::int64_t* invocation = merge.invocations.find(source.integer(0));
  if (invocation == nullptr)
    throw Error("database " + quote(merge.source.file().string()) +
                " contains a run without an invocation; nothing was merged");
  Statement there(merge.target, "SELECT 1 FROM main.run WHERE invocation_id = ? AND sequence = ?");
  return there.bind_all(*invocation, source.integer(1)).step();
}

/// Copies a run's rows of a table. Returns the number of rows that refer to something missing from the source.
std::int64_t merge_table(const Merge& merge, const TableOfRuns& of_runs, std::int64_t run_id, std::int64_t added) {
  const auto& [table, shared] = of_runs;
  const Table* observed = find_observed_table(table);
  if (observed != nullptr && observed->is_event()) {
    const auto passes = passes_in(merge.source, table, run_id);
    if (passes) return copy_events(merge, *observed, shared, *passes, run_id, added);
  }
  IdMap run_ids;
  run_ids.set(run_id, added);
  std::vector<Translation> translations{{position_of(shared, "run_id"), &run_ids}};
  if (const int device = position_of(shared, "device_id"); device >= 0)
    translations.push_back({device, &merge.devices});
  if (observed != nullptr) translate_texts(*observed, shared, merge.texts, translations);
  return copy_where(merge, table, shared, "run_id = ?", run_id, translations);
}

void merge_run(Merge& merge, std::int64_t run_id) {
  const auto columns = columns_without(merge, "run", "run_id");
  copy_where(merge, "run", columns, "run_id = ?", run_id,
             {{position_of(columns, "invocation_id"), &merge.invocations},
              {position_of(columns, "plugin_id"), &merge.plugins}});
  if (merge.target.changes() != 1)
    throw Error("database " + quote(merge.source.file().string()) +
                " contains a run without required values; nothing was merged");
  const std::int64_t added = merge.target.last_insert_id();
  std::int64_t unknown = 0;
  for (const TableOfRuns& table : merge.tables) unknown += merge_table(merge, table, run_id, added);
  if (unknown > 0) add_dropped_records(merge.target, added, -1, "", "store", unknown, kUnknownTexts);
}

/// Most runs fill few tables, and preparing the statements for an empty table takes longer than copying a row.
std::vector<TableOfRuns> filled_tables(const Merge& merge) {
  std::vector<TableOfRuns> tables;
  for (const std::string& table : tables_of_runs(merge.target)) {
    auto shared = common_columns(merge.source, merge.target, table);
    if (!shared.empty() && Statement(merge.source, "SELECT 1 FROM main." + identifier(table) + " LIMIT 1").step())
      tables.push_back({table, std::move(shared)});
  }
  return tables;
}

void merge_runs(Merge& merge) {
  for (const std::int64_t id :
       ids_of(merge.source, "SELECT run_id FROM main.run WHERE status <> 'running' ORDER BY run_id")) {
    if (is_there(merge, id)) {
      ++merge.report.runs_already_there;
      continue;
    }
    merge_run(merge, id);
    ++merge.report.runs_added;
  }
}

}  // namespace

MergeReport ResultsDatabase::merge(const fs::path& other) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  std::error_code error;
  if (fs::equivalent(other, impl_->file, error))
    throw UsageError("database " + quote(other.string()) + " cannot be merged into itself; specify another file");
  const auto source = open_results(other, Mode::kReadOnly, own_schema());
  // Read the source in a single transaction, as a consistent snapshot.
  source->exec("BEGIN");
  Merge merge{*source, results, {}, {}, {}, {}, {}, {}};
  Transaction transaction(results);
  merge_plugins(merge);
  merge_devices(merge);
  merge.texts = import_texts(merge.target, merge.source, source_is_newer(merge));
  for (const std::int64_t id : ids_of(*source, "SELECT invocation_id FROM main.invocation ORDER BY invocation_id"))
    merge_invocation(merge, id);
  merge.tables = filled_tables(merge);
  merge_runs(merge);
  transaction.commit();
  return merge.report;
}

}  // namespace kymo::store

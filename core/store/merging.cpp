// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/adoption.hpp"
#include "store/impl.hpp"
#include "store/opening.hpp"
#include "store/tables.hpp"

namespace kymo::store {
namespace {

namespace fs = std::filesystem;

/// One merge: where from, where to, and what the identifiers of one are in the other.
struct Merge {
  const Connection& source;
  const Connection& target;
  IdMap plugins;
  IdMap devices;
  IdMap invocations;
  MergeReport report;
};

std::vector<std::int64_t> ids_of(const Connection& connection, const std::string& sql) {
  std::vector<std::int64_t> ids;
  Statement statement(connection, sql);
  while (statement.step()) ids.push_back(statement.integer(0));
  return ids;
}

/// Rows of `table` that `where` (with one parameter, `id`) selects.
void copy_where(const Merge& merge, const std::string& table, const std::vector<std::string>& columns, const std::string& where,
                std::int64_t id, const std::vector<Translation>& translations) {
  Statement select(merge.source, select_sql(table, columns) + " WHERE " + where + " ORDER BY 1");
  select.bind(1, id);
  Statement insert(merge.target, insert_sql(table, columns));
  copy_rows(select, insert, translations);
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
    if (there.bind(1, sha256.text(0)).step()) merge.plugins[id] = there.integer(0);
  }
}

void merge_devices(Merge& merge) {
  for (const std::int64_t id : ids_of(merge.source, "SELECT device_id FROM main.device ORDER BY device_id")) {
    merge.devices[id] = adopt_device(merge.target, merge.source, id);
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
                  " holds an invocation that lacks a fact it must have; nothing was merged");
    ++merge.report.invocations_added;
  } else if (!source.is_null(1)) {
    // It was still at work when it was merged before.
    Statement(merge.target, "UPDATE main.invocation SET ended_at = ?, exit_code = ? WHERE invocation_id = ? AND ended_at IS NULL")
        .bind_all(source.text(1), source.is_null(2) ? std::optional<std::int64_t>() : source.integer(2), *there)
        .run();
  }
  merge.invocations[id] = *there;
  const auto columns = common_columns(merge.source, merge.target, "environment");
  copy_where(merge, "environment", columns, "invocation_id = ?", id, {{position_of(columns, "invocation_id"), &merge.invocations}});
}

bool is_there(const Merge& merge, std::int64_t run_id) {
  Statement source(merge.source, "SELECT invocation_id, sequence FROM main.run WHERE run_id = ?");
  source.bind(1, run_id).step();
  const auto invocation = merge.invocations.find(source.integer(0));
  if (invocation == merge.invocations.end())
    throw Error("database " + quote(merge.source.file().string()) + " holds a run of no invocation; nothing was merged");
  Statement there(merge.target, "SELECT 1 FROM main.run WHERE invocation_id = ? AND sequence = ?");
  return there.bind_all(invocation->second, source.integer(1)).step();
}

void merge_run(Merge& merge, std::int64_t run_id) {
  const auto columns = columns_without(merge, "run", "run_id");
  copy_where(merge, "run", columns, "run_id = ?", run_id,
             {{position_of(columns, "invocation_id"), &merge.invocations}, {position_of(columns, "plugin_id"), &merge.plugins}});
  if (merge.target.changes() != 1)
    throw Error("database " + quote(merge.source.file().string()) + " holds a run that lacks a fact it must have; nothing was merged");
  const IdMap run_ids{{run_id, merge.target.last_insert_id()}};
  for (const std::string& table : tables_of_runs(merge.target)) {
    const auto shared = common_columns(merge.source, merge.target, table);
    if (shared.empty()) continue;
    std::vector<Translation> translations{{position_of(shared, "run_id"), &run_ids}};
    if (const int device = position_of(shared, "device_id"); device >= 0) translations.push_back({device, &merge.devices});
    copy_where(merge, table, shared, "run_id = ?", run_id, translations);
  }
}

void merge_runs(Merge& merge) {
  for (const std::int64_t id : ids_of(merge.source, "SELECT run_id FROM main.run WHERE status <> 'running' ORDER BY run_id")) {
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
    throw UsageError("database " + quote(other.string()) + " cannot be merged into itself; name another file");
  const auto source = open_results(other, Mode::kReadOnly, own_schema());
  // The source is read as it is at one moment.
  source->exec("BEGIN");
  Merge merge{*source, results, {}, {}, {}, {}};
  Transaction transaction(results);
  merge_plugins(merge);
  merge_devices(merge);
  for (const std::int64_t id : ids_of(*source, "SELECT invocation_id FROM main.invocation ORDER BY invocation_id"))
    merge_invocation(merge, id);
  merge_runs(merge);
  transaction.commit();
  return merge.report;
}

}  // namespace kymo::store

// SPDX-License-Identifier: Apache-2.0
#include "store/results.hpp"

#include <array>
#include <map>
#include <random>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "measure/settings.hpp"
#include "store/impl.hpp"
#include "store/open.hpp"

namespace kymo::store {
namespace {

/// Returns a random (version 4) UUID.
std::string make_uuid() {
  std::random_device source;
  std::string digits;
  for (int i = 0; i < 32; ++i) digits += "0123456789abcdef"[source() & 0xFu];
  digits[12] = '4';
  digits[16] = "89ab"[source() & 0x3u];
  for (const std::size_t at : {8u, 13u, 18u, 23u}) digits.insert(at, "-");
  return digits;
}

std::int64_t store_plugin(const Connection& results, const PluginRow& plugin) {
  constexpr const char* kColumns = "name, version, file, sha256, framework, framework_version, cuda_version, compiler";
  Statement(results, insert_sql("plugin", kColumns, "OR IGNORE"))
      .bind_all(plugin.name, plugin.version, plugin.file, plugin.sha256, plugin.framework, plugin.framework_version,
                plugin.cuda_version, plugin.compiler)
      .run();
  Statement id(results, "SELECT plugin_id FROM main.plugin WHERE sha256 = ?");
  id.bind(1, plugin.sha256);
  id.step();
  return id.integer(0);
}

const char* type_of(const measure::Value& value) {
  static constexpr std::array<const char*, 4> kTypes{"bool", "int", "real", "text"};
  return kTypes[value.index()];
}

void store_parameters(const Connection& results, std::int64_t run_id, const RunRow& run) {
  Statement insert(results, insert_sql("param", "run_id, name, position, type, title, setting, choice, value"));
  for (const auto& [name, value] : run.what.parameters) {
    const auto shown = run.title.parameters.find(name);
    const auto [position, title, is_setting, choice] =
        shown == run.title.parameters.end() ? RunTitle::Parameter{} : shown->second;
    insert.bind_all(run_id, name, position, type_of(value), title, is_setting, choice, value).run();
  }
}

void store_libraries(const Connection& results, std::int64_t run_id,
                     const std::map<std::string, std::string>& libraries) {
  Statement insert(results, insert_sql("run_library", "run_id, name, sha256"));
  for (const auto& [name, sha256] : libraries) insert.bind_all(run_id, name, sha256).run();
}

void store_commit(const Connection& results, std::int64_t run_id, const Commit& commit) {
  Statement(results, insert_sql("source_commit", "run_id, project, hash, parents, committed_at, branch, dirty"))
      .bind_all(run_id, commit.project, commit.hash, commit.parents, commit.committed_at, commit.branch, commit.dirty)
      .run();
}

std::int64_t store_run(const Connection& results, const RunRow& run) {
  using measure::Equivalence;
  const auto& [what, method, suite, suite_case, repetition] = static_cast<const measure::RunIdentity&>(run);
  const auto key = [&](Equivalence equivalence) { return measure::equivalence_key(run, equivalence); };
  std::string columns =
      "plugin_id, workload, title, family, family_order, case_key, settings_key, plan_key, suite, suite_case, label, "
      "repetition, ranks, device_kind, status, detail, verification, failed_pass, failed_phase, started_at";
  int parameter = 1 + static_cast<int>(split(columns, ',').size());
  for (const measure::Setting& setting : measure::settings())
    if (!setting.column.empty()) columns += ", " + setting.column;
  Statement insert(results, insert_next_sql("run", "invocation_id", columns));
  insert.bind_all(run.invocation_id, store_plugin(results, run.plugin), what.workload, run.title.workload,
                  run.title.family, run.title.family_order, key(Equivalence::kCase), key(Equivalence::kSettings),
                  key(Equivalence::kPlan), suite, suite_case, run.label, repetition, what.ranks,
                  measure::to_string(what.device), "running", "", "", "", "", wall_time_utc());
  for (const measure::Setting& setting : measure::settings())
    if (!setting.column.empty()) insert.bind(++parameter, setting.type.stored(method));
  insert.run();
  return results.last_insert_id();
}

}  // namespace

ResultsDatabase::ResultsDatabase(const std::filesystem::path& file, Mode mode) : impl_(std::make_unique<Impl>()) {
  impl_->file = file;
  impl_->read_only = mode == Mode::kReadOnly;
  if (!impl_->read_only && network_file_system(file)) impl_->lock = std::make_unique<WriterLock>(file);
  impl_->connection = open_results(file, mode, own_schema());
}

ResultsDatabase::ResultsDatabase() : impl_(std::make_unique<Impl>()) {
  impl_->connection = Connection::temporary("(in memory)");
}

ResultsDatabase::~ResultsDatabase() = default;

const std::filesystem::path& ResultsDatabase::file() const { return impl_->file; }

std::int64_t ResultsDatabase::begin_invocation(const std::string& command,
                                               const std::vector<std::pair<std::string, std::string>>& environment) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  Transaction transaction(results);
  Statement(results, "INSERT INTO main.invocation (uuid, command, started_at) VALUES (?, ?, ?)")
      .bind_all(make_uuid(), command, wall_time_utc())
      .run();
  const std::int64_t invocation_id = results.last_insert_id();
  Statement insert(results, "INSERT OR REPLACE INTO main.environment (invocation_id, name, value) VALUES (?, ?, ?)");
  for (const auto& [name, value] : environment) insert.bind_all(invocation_id, name, value).run();
  transaction.commit();
  return invocation_id;
}

void ResultsDatabase::end_invocation(std::int64_t invocation_id, int exit_code) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  Transaction transaction(results);
  Statement(results, "UPDATE main.invocation SET ended_at = ?, exit_code = ? WHERE invocation_id = ?")
      .bind_all(wall_time_utc(), exit_code, invocation_id)
      .run();
  if (results.changes() != 1)
    throw Error("database " + quote(impl_->file.string()) + " contains no invocation " + std::to_string(invocation_id));
  transaction.commit();
}

void ResultsDatabase::plan_runs(std::int64_t invocation_id, const std::vector<const RunRow*>& runs) {
  using measure::Equivalence;
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  Transaction transaction(results);
  Statement insert(results, insert_sql("planned_run",
                                       "invocation_id, sequence, workload, parameters, case_key, settings_key, "
                                       "plan_key, suite, suite_case, label, repetition, ranks, device_kind, warmup"));
  std::int64_t sequence = 0;
  for (const RunRow* run : runs) {
    const auto key = [&](Equivalence equivalence) { return measure::equivalence_key(*run, equivalence); };
    insert
        .bind_all(invocation_id, sequence++, run->what.workload, dump_json(run->what.parameters),
                  key(Equivalence::kCase), key(Equivalence::kSettings), key(Equivalence::kPlan), run->suite,
                  run->suite_case, run->label, run->repetition, run->what.ranks, measure::to_string(run->what.device),
                  run->method.warmup)
        .run();
  }
  transaction.commit();
}

void ResultsDatabase::set_ranks(std::int64_t run_id, const RunRow& run) {
  using measure::Equivalence;
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  const auto key = [&](Equivalence equivalence) { return measure::equivalence_key(run, equivalence); };
  Transaction transaction(results);
  Statement(results,
            "UPDATE main.run SET ranks = ?, case_key = ?, settings_key = ?, plan_key = ? WHERE run_id = ? AND status = "
            "'running'")
      .bind_all(run.what.ranks, key(Equivalence::kCase), key(Equivalence::kSettings), key(Equivalence::kPlan), run_id)
      .run();
  transaction.commit();
}

std::int64_t ResultsDatabase::begin_run(const RunRow& run) {
  const Connection& results = writable(impl_->file, *impl_->connection, impl_->read_only);
  Transaction transaction(results);
  Statement invocation(results, "SELECT 1 FROM main.invocation WHERE invocation_id = ?");
  if (!invocation.bind(1, run.invocation_id).step()) {
    throw Error("database " + quote(impl_->file.string()) + " contains no invocation " +
                std::to_string(run.invocation_id) + ", so a run cannot begin in it");
  }
  const std::int64_t run_id = store_run(results, run);
  store_parameters(results, run_id, run);
  store_libraries(results, run_id, run.what.plugin_libraries);
  if (run.commit) store_commit(results, run_id, *run.commit);
  transaction.commit();
  return run_id;
}

int ResultsDatabase::finished_runs(const std::string& plan_key, const std::string& device_uuid) const {
  Statement count(
      *impl_->connection,
      "SELECT count(*) FROM main.run r WHERE plan_key = ?1 AND status IN ('ok', 'oom') AND (?2 = '' OR EXISTS "
      "(SELECT 1 FROM main.rank k JOIN main.device d ON d.device_id = k.device_id "
      "WHERE k.run_id = r.run_id AND d.uuid = ?2))");
  count.bind(1, plan_key);
  count.bind(2, device_uuid);
  count.step();
  return static_cast<int>(count.integer(0));
}

}  // namespace kymo::store

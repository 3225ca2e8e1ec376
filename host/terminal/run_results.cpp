// SPDX-License-Identifier: Apache-2.0
#include "terminal/run_results.hpp"

#include <map>
#include <utility>

#include "base/units.hpp"
#include "measure/statistics.hpp"
#include "report/result.hpp"

namespace kymo::terminal {
namespace {

using store::ResultsDatabase;
using Runs = std::map<std::int64_t, Json>;

std::int64_t take_run_id(Json& row) {
  const auto id = row["run_id"].get<std::int64_t>();
  row.erase("run_id");
  return id;
}

void read_runs(const ResultsDatabase& database, const std::string& condition, Runs& runs) {
  for_rows(
      database,
      "SELECT r.run_id, r.workload, r.family, r.suite, r.suite_case, r.label, r.repetition, r.ranks, r.device_kind AS "
      "device, r.timing, r.sync, r.warmup, r.steps, r.until_relative_error, r.passes, r.started_at, "
      "r.invocation_id, r.case_key, r.plan_key, r.status, r.detail, r.failed_pass, r.failed_phase, r.failed_step, "
      "r.verification, p.file AS plugin_file, p.sha256 AS plugin_sha256 FROM run r "
      "JOIN plugin p ON p.plugin_id = r.plugin_id WHERE " +
          condition,
      [&](Json row) {
        // The first wrong value of a damaged database ends the command; text would show it.
        for (const char* number : {"ranks", "warmup", "steps", "repetition"})
          static_cast<void>(integer_at(row, number));
        for (const char* object : {"parameters", "phases", "metrics"}) row[object] = Json::object();
        for (const char* array : {"checks", "warnings"}) row[array] = Json::array();
        const auto id = row["run_id"].get<std::int64_t>();
        runs.emplace(id, std::move(row));
      });
}

void read_parameters(const ResultsDatabase& database, const std::string& ids, Runs& runs) {
  for_rows(database, "SELECT run_id, name, type, value FROM run_parameter WHERE run_id IN (" + ids + ")",
           [&](const Json& row) {
             const bool truth = row["type"] == "bool";
             Json& value = runs.at(row["run_id"].get<std::int64_t>())["parameters"][row["name"].get<std::string>()];
             value = truth ? Json(row["value"] != 0) : row["value"];
           });
}

/// The whole step comes first, then the phases in execution order, which takes longer to find than everything else.
constexpr const char* kInOrder =
    " ORDER BY t.run_id, t.phase <> 'step', t.phase = 'other', (SELECT min(s.start_ns) FROM step_time s "
    "WHERE s.run_id = t.run_id AND s.phase = t.phase)";

void read_phases(const ResultsDatabase& database, const std::string& condition, Runs& runs) {
  for_rows(database,
           "SELECT t.run_id, t.phase, t.clock, t.count, t.excluded, t.all_throttled, t.mean_ms * 1e6 AS mean_ns, "
           "t.std_ms * 1e6 AS std_ns, t.median_ms * 1e6 AS median_ns, t.median_low_ms * 1e6 AS median_low_ns, "
           "t.median_high_ms * 1e6 AS median_high_ns, t.min_ms * 1e6 AS min_ns, t.max_ms * 1e6 AS max_ns, "
           "t.ci_low_ms * 1e6 AS ci_low_ns, t.ci_high_ms * 1e6 AS ci_high_ns, t.statistic, t.time_ms * 1e6 AS time_ns, "
           "t.slow_share, t.slow_time_share, t.fast_share, t.fast_time_share, t.unlike_steps FROM phase_time t WHERE " +
               condition,
           [&](Json row) {
             Json& phases = runs.at(take_run_id(row))["phases"];
             const auto phase = row["phase"].get<std::string>();
             row.erase("phase");
             phases[phase] = std::move(row);
           });
}

void read_work(const ResultsDatabase& database, const std::string& ids, Runs& runs) {
  for_rows(database, "SELECT run_id, phase, flops, bytes FROM throughput WHERE run_id IN (" + ids + ")",
           [&](const Json& row) {
             Json& phase = runs.at(row["run_id"].get<std::int64_t>())["phases"][row["phase"].get<std::string>()];
             const auto time_ns = phase["time_ns"].get<double>();
             for (const char* work : {"flops", "bytes"}) {
               if (row[work].is_null()) continue;
               phase[work] = row[work];
               if (time_ns > 0) phase[std::string(work) + "_per_s"] = row[work].get<double>() / (time_ns / kNsPerS);
             }
           });
}

void read_bandwidth(const ResultsDatabase& database, const std::string& ids, Runs& runs) {
  for_rows(
      database,
      "SELECT run_id, algbw_gb_s, busbw_gb_s FROM all_reduce_bandwidth WHERE busbw_gb_s IS NOT NULL AND run_id IN (" +
          ids + ")",
      [&](const Json& row) {
        Json& step = runs.at(row["run_id"].get<std::int64_t>())["phases"]["step"];
        for (const char* bandwidth : {"algbw_gb_s", "busbw_gb_s"}) step[bandwidth] = row[bandwidth];
      });
}

/// The metrics of a run in the order in which they were first reported. Json finds a member by comparing it with all
/// others, so that the time would grow with the square of their number.
class MetricsOfRun {
 public:
  void add(std::string name, Json value, Json unit, bool is_of_step) {
    const auto [found, is_new] = positions_.emplace(name, metrics_.size());
    if (is_new) metrics_.push_back({std::move(name), nullptr, nullptr, {}});
    Metric& metric = metrics_[found->second];
    if (is_of_step && value.is_number()) metric.of_steps.push_back(value.get<double>());
    metric.value = std::move(value);
    metric.unit = std::move(unit);
  }

  Json take() {
    Json object = Json::object();
    auto& members = object.get_ref<Json::object_t&>();
    for (Metric& metric : metrics_) {
      if (!metric.of_steps.empty()) metric.value = measure::median(metric.of_steps);
      members.push_back(
          {std::move(metric.name), {{"value", std::move(metric.value)}, {"unit", std::move(metric.unit)}}});
    }
    return object;
  }

 private:
  struct Metric {
    std::string name;
    Json value, unit;
    std::vector<double> of_steps;
  };
  std::vector<Metric> metrics_;
  std::map<std::string, std::size_t> positions_;
};

void read_metrics(const ResultsDatabase& database, const std::string& ids, Runs& runs) {
  std::map<std::int64_t, MetricsOfRun> metrics;
  for_rows(database,
           "SELECT m.run_id, m.name, m.value, m.unit, m.level FROM reported_metric m JOIN run r ON r.run_id = m.run_id "
           "WHERE m.rank = 0 AND m.pass = 'time' AND (m.step IS NULL OR m.step >= r.warmup) AND m.run_id IN (" +
               ids + ") ORDER BY m.run_id, m.sequence",
           [&](Json row) {
             metrics[row["run_id"].get<std::int64_t>()].add(row["name"].get<std::string>(), std::move(row["value"]),
                                                            std::move(row["unit"]), row["level"] != "run");
           });
  for (auto& [id, of_run] : metrics) runs.at(id)["metrics"] = of_run.take();
}

void read_checks(const ResultsDatabase& database, const std::string& ids, Runs& runs) {
  for_rows(database,
           "SELECT run_id, rank, name, outcome, max_abs_error, max_rel_error, tolerance, reference, detail FROM "
           "verification_result WHERE run_id IN (" +
               ids + ") ORDER BY run_id, rank, name",
           [&](Json row) { runs.at(take_run_id(row))["checks"].push_back(row); });
}

/// A status other than ok is part of the run itself.
void read_warnings(const ResultsDatabase& database, const std::string& ids, Runs& runs) {
  for_rows(database,
           "SELECT w.run_id, w.kind, w.detail FROM run_warning w JOIN run r ON r.run_id = w.run_id "
           "WHERE w.kind <> r.status AND w.run_id IN (" +
               ids + ")",
           [&](Json row) { runs.at(take_run_id(row))["warnings"].push_back(row); });
}

Json values_of(Runs& runs) {
  Json results = Json::array();
  for (auto& [id, run] : runs) results.push_back(std::move(run));
  return results;
}

}  // namespace

std::string value_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options) {
  WorkloadSettings found{run["workload"].is_null() ? "" : run["workload"].get<std::string>(), {}};
  for (const auto& [name, value] : run["parameters"].items()) found.settings[name] = value_text(value);
  for (const std::string& name : options) found.settings["--" + name] = value_text(run[name]);
  return found;
}

void for_rows(const ResultsDatabase& database, const std::string& sql, const std::function<void(Json)>& use) {
  auto table = database.query(sql);
  // SQLite matches names of columns without regard to case, but returns them as the file spells them, which may be
  // damaged.
  for (std::string& name : table.columns)
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const auto& cells : table.rows) use(report::json_row(table.columns, cells));
}

Json results_of(const ResultsDatabase& database, const std::string& ids) {
  Runs runs;
  read_runs(database, "r.run_id IN (" + ids + ")", runs);
  read_parameters(database, ids, runs);
  read_phases(database, "t.run_id IN (" + ids + ")" + kInOrder, runs);
  read_work(database, ids, runs);
  read_bandwidth(database, ids, runs);
  read_metrics(database, ids, runs);
  read_checks(database, ids, runs);
  read_warnings(database, ids, runs);
  return values_of(runs);
}

Json invocation_results(const ResultsDatabase& database, std::int64_t invocation_id) {
  return results_of(database, "SELECT run_id FROM run WHERE invocation_id = " + std::to_string(invocation_id));
}

Json brief_results(const ResultsDatabase& database, const std::string& ids, const std::string& phases) {
  Runs runs;
  read_runs(database, "r.run_id IN (" + ids + ")", runs);
  read_parameters(database, ids, runs);
  read_phases(database, "t.run_id IN (" + ids + ") AND " + phases, runs);
  return values_of(runs);
}

Json brief_result(const ResultsDatabase& database, std::int64_t invocation_id, std::size_t index) {
  const auto found = database.query("SELECT run_id FROM run WHERE invocation_id = " + std::to_string(invocation_id) +
                                    " AND sequence = " + std::to_string(index));
  return found.rows.empty() ? Json() : brief_results(database, std::to_string(found.rows[0].at(0).integer))[0];
}

}  // namespace kymo::terminal

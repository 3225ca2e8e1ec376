// SPDX-License-Identifier: Apache-2.0
#include "cli/results_table.hpp"

#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace kymo::cli {
namespace {

std::string mean_text(const Json& time, bool with_spread) {
  std::string text = format_duration(time["mean_ns"].get<double>());
  if (with_spread && !time["std_ns"].is_null()) text += " ± " + format_duration(time["std_ns"].get<double>());
  return text;
}

std::string step_text(const Json& result) {
  if (!result["phases"].contains("step")) return "";
  const Json& step = result["phases"]["step"];
  const bool throttled = step["all_throttled"].get<std::int64_t>() != 0;
  const std::int64_t excluded = step["excluded"].get<std::int64_t>();
  return mean_text(step, true) + (throttled      ? " (throttled)"
                                  : excluded > 0 ? " (" + std::to_string(excluded) + " throttled excluded)"
                                                 : "");
}

std::string phases_text(const Json& result) {
  std::vector<std::string> parts;
  for (const auto& [name, time] : result["phases"].items()) {
    if (name != "step") parts.push_back(name + " " + mean_text(time, false));
  }
  return join(parts, ", ");
}

std::string verification_text(const Json& result) {
  const auto word = result["verification"].get<std::string>();
  if (word == "unavailable") return "not verified";
  return word.empty() ? "-" : word;
}

}  // namespace

std::string value_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

WorkloadSettings settings_of(const Json& run, const std::vector<std::string>& options) {
  WorkloadSettings found{run["workload"].is_null() ? "" : run["workload"].get<std::string>(), {}};
  for (const auto& [name, value] : run["parameters"].items()) found.settings[name] = value_text(value);
  for (const std::string& name : options) found.settings["--" + name] = value_text(run[name]);
  return found;
}

void for_rows(const store::ResultsDatabase& database, const std::string& sql, const std::function<void(Json)>& use) {
  const auto table = database.query(sql);
  for (const auto& cells : table.rows) use(json_row(table.columns, cells));
}

Json results_of(const store::ResultsDatabase& database, const std::string& ids) {
  std::map<std::int64_t, Json> runs;
  for_rows(database,
           "SELECT run_id, workload, suite, suite_case, label, repetition, ranks, device_kind AS device, timing, sync, "
           "warmup, case_key, plan_key, status, detail, verification FROM run WHERE run_id IN (" +
               ids + ")",
           [&](Json row) {
             row["parameters"] = Json::object();
             row["phases"] = Json::object();
             row["checks"] = Json::array();
             const auto id = row["run_id"].get<std::int64_t>();
             runs.emplace(id, std::move(row));
           });
  for_rows(database, "SELECT run_id, name, type, value FROM run_parameter WHERE run_id IN (" + ids + ")",
           [&](const Json& row) {
             const bool truth = row["type"] == "bool";
             Json& value = runs.at(row["run_id"].get<std::int64_t>())["parameters"][row["name"].get<std::string>()];
             value = truth ? Json(row["value"] != 0) : row["value"];
           });
  // The whole step comes first, then the phases in execution order.
  for_rows(database,
           "SELECT t.run_id, t.phase, t.clock, t.count, t.excluded, t.all_throttled, t.mean_ms * 1e6 AS mean_ns, "
           "t.std_ms * 1e6 AS std_ns, "
           "t.median_ms * 1e6 AS median_ns, t.min_ms * 1e6 AS min_ns, t.max_ms * 1e6 AS max_ns, t.ci_low_ms * 1e6 AS "
           "ci_low_ns, "
           "t.ci_high_ms * 1e6 AS ci_high_ns FROM phase_time t WHERE t.run_id IN (" +
               ids +
               ") ORDER BY t.run_id, t.phase <> 'step', t.phase = 'other', (SELECT min(s.start_ns) FROM step_time s "
               "WHERE s.run_id = t.run_id AND s.phase = t.phase)",
           [&](Json row) {
             Json& phases = runs.at(row["run_id"].get<std::int64_t>())["phases"];
             const auto phase = row["phase"].get<std::string>();
             row.erase("run_id");
             row.erase("phase");
             phases[phase] = std::move(row);
           });
  for_rows(database,
           "SELECT run_id, rank, name, outcome, max_abs_error, max_rel_error, tolerance, reference, detail FROM "
           "verification_result WHERE run_id IN (" +
               ids + ") ORDER BY run_id, rank, name",
           [&](Json row) {
             const auto id = row["run_id"].get<std::int64_t>();
             row.erase("run_id");
             runs.at(id)["checks"].push_back(std::move(row));
           });
  Json results = Json::array();
  for (auto& [id, run] : runs) results.push_back(std::move(run));
  return results;
}

Json invocation_results(const store::ResultsDatabase& database, std::int64_t invocation_id) {
  return results_of(database, "SELECT run_id FROM run WHERE invocation_id = " + std::to_string(invocation_id));
}

Json run_result(const store::ResultsDatabase& database, std::int64_t invocation_id, std::size_t index) {
  const Json results =
      results_of(database, "SELECT run_id FROM run WHERE invocation_id = " + std::to_string(invocation_id) +
                               " ORDER BY run_id LIMIT 1 OFFSET " + std::to_string(index));
  return results.empty() ? Json(nullptr) : results[0];
}

TextTable results_table(const Json& results) {
  TextTable table{
      {"run", "workload", "parameters", "step", "phases", "status", "verification"}, {true, false, false, true}, {}};
  std::vector<WorkloadSettings> runs;
  for (const Json& result : results)
    runs.push_back(settings_of(result, {"ranks", "device", "timing", "sync", "warmup"}));
  const std::vector<std::string> parameters = measure::differing(runs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Json& result = results[i];
    table.rows.push_back({result["run_id"].dump(), runs[i].workload, parameters[i], step_text(result),
                          phases_text(result), result["status"].get<std::string>(), verification_text(result)});
  }
  return table;
}

TextTable checks_table(const Json& results) {
  TextTable table{{"run", "workload", "rank", "compared", "outcome", "error", "tolerance", "reference", "detail"},
                  {true, false, true, false, false, true, true},
                  {}};
  const auto number = [](const Json& value) { return value.is_null() ? std::string() : value.dump(); };
  for (const Json& result : results) {
    for (const Json& check : result["checks"]) {
      table.rows.push_back({result["run_id"].dump(), result["workload"].get<std::string>(), check["rank"].dump(),
                            check["name"].get<std::string>(), check["outcome"].get<std::string>(),
                            number(check["max_abs_error"]), number(check["tolerance"]),
                            check["reference"].get<std::string>(), check["detail"].get<std::string>()});
    }
  }
  return table;
}

std::string failures(const Json& results) {
  static constexpr std::size_t kMaxNamed = 10;
  std::vector<std::string> reasons;  // in order of first occurrence
  std::map<std::string, std::vector<std::string>> runs;
  for (const Json& result : results) {
    if (result["status"] == "ok") continue;
    const std::string reason =
        result["status"].get<std::string>() + ": " + visible(result["detail"].get<std::string>());
    if (runs[reason].empty()) reasons.push_back(reason);
    runs[reason].push_back(result["run_id"].dump());
  }
  std::string text;
  for (const std::string& reason : reasons) {
    std::vector<std::string>& ids = runs[reason];
    const std::size_t more = ids.size() > kMaxNamed ? ids.size() - kMaxNamed : 0;
    ids.resize(ids.size() - more);
    text += std::string(ids.size() == 1 ? "run " : "runs ") + join(ids, ", ") +
            (more > 0 ? " and " + std::to_string(more) + " more " : " ") + reason + "\n";
  }
  return text;
}

std::string result_line(const Json& result) {
  std::string line = "run " + result["run_id"].dump() + ": " + result["workload"].get<std::string>();
  for (const auto& [name, value] : result["parameters"].items()) line += " " + name + "=" + value_text(value);
  line += ": " + result["status"].get<std::string>();
  if (const std::string step = step_text(result); !step.empty()) line += ", step " + step;
  if (const auto detail = result["detail"].get<std::string>(); !detail.empty()) line += " (" + detail + ")";
  return visible(line);
}

}  // namespace kymo::cli

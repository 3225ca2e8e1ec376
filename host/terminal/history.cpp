// SPDX-License-Identifier: Apache-2.0
#include "terminal/history.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "measure/statistics.hpp"
#include "measure/step_statistic.hpp"
#include "plan/regex.hpp"
#include "terminal/commit_order.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"
#include "terminal/verdict.hpp"

namespace kymo::terminal {
namespace {

constexpr const char* kRuns = R"(
  SELECT r.run_id, r.case_key, r.status,
         trim(r.workload || ' ' || l.parameters) || iif(r.ranks > 1, ' ranks=' || r.ranks, '') AS title,
         coalesce(l.device_name, r.device_kind) AS machine, t.clock, t.statistic, '' AS unlike_steps,
         t.median_ms * 1e6 AS median_ns, t.mean_ms * 1e6 AS mean_ns,
         c.project, c.hash, c.short_hash, c.parents, c.committed_at, c.branch, c.dirty
  FROM run r
  JOIN run_list l ON l.run_id = r.run_id
  LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
  LEFT JOIN run_commit c ON c.run_id = r.run_id
  WHERE r.status NOT IN ('running', 'skipped') ORDER BY r.run_id)";

/// Steps of a run during which the machine was not busy.
struct QuietSteps {
  std::int64_t count = 0;
  std::int64_t of = 0;  // all steps
  Json median_ns, mean_ns;
};
/// Of the runs during which it was busy at some time.
using PartlyBusyRuns = std::map<std::int64_t, QuietSteps>;

/// A median of fewer steps says little. If fewer than half of all steps are quiet, the machine was often busy between
/// the two measurements that say so, too.
constexpr std::int64_t kLeastQuietSteps = 5;
constexpr std::int64_t kLeastQuietShare = 2;  // one in

constexpr const char* kQuietSteps = R"(
  SELECT s.run_id, count(s.quiet_ns) AS count, count(*) AS steps, median(s.quiet_ns) AS median_ns,
         avg(s.quiet_ns) AS mean_ns
  FROM (SELECT t.run_id, CASE WHEN NOT t.is_busy AND NOT t.throttled THEN t.host_ns END AS quiet_ns
        FROM step_slowdown t) s
  WHERE s.run_id IN ()";

PartlyBusyRuns partly_busy_runs(const store::ResultsDatabase& database) {
  PartlyBusyRuns runs;
  std::vector<std::string> ids;
  // Also those whose steps were not kept.
  for_rows(database, "SELECT run_id FROM machine_slowdown WHERE busy_loops > 0", [&](const Json& row) {
    runs[integer_at(row, "run_id")];
    ids.push_back(std::to_string(integer_at(row, "run_id")));
  });
  if (ids.empty()) return runs;
  for_rows(database, kQuietSteps + join(ids, ", ") + ") GROUP BY s.run_id", [&](const Json& row) {
    runs[integer_at(row, "run_id")] = {integer_at(row, "count"), integer_at(row, "steps"), row["median_ns"],
                                       row["mean_ns"]};
  });
  return runs;
}

/// Replaces the times of a run by those of its quiet steps; false if these are too few.
bool keep_quiet_steps(Json& run, const PartlyBusyRuns& busy) {
  const auto found = busy.find(integer_at(run, "run_id"));
  if (found == busy.end()) return true;
  const QuietSteps& quiet = found->second;
  run["median_ns"] = quiet.median_ns;
  run["mean_ns"] = quiet.mean_ns;
  return quiet.count >= kLeastQuietSteps && kLeastQuietShare * quiet.count >= quiet.of;
}

struct MeasuredCommit {
  Json facts;  // of one of its runs
  std::vector<std::int64_t> run_ids, busy_run_ids;
  SideTimes times;
};

struct Series {
  Json facts;                                     // of one of its runs
  std::map<std::string, MeasuredCommit> commits;  // by hash
};

using Counts = std::map<std::string, std::int64_t>;  // runs by title

/// Why a run belongs to no series; empty if it does.
std::string obstacle(const Json& run) {
  if (run["hash"].is_null()) return "without_commit";
  if (run["dirty"] == 1) return "dirty";
  const bool is_timed = run["status"] == "ok" && !run["clock"].is_null();
  return is_timed && real_at(run, "median_ns") > 0 && real_at(run, "mean_ns") > 0 ? "" : "untimed";
}

void add_run(Series& series, const Json& run, bool is_busy) {
  series.facts = run;
  MeasuredCommit& commit = series.commits[text_at(run, "hash")];
  commit.facts = run;
  (is_busy ? commit.busy_run_ids : commit.run_ids).push_back(integer_at(run, "run_id"));
  if (!is_busy) commit.times.add(run);
}

Json commit_json(const MeasuredCommit& commit, StepStatistic statistic) {
  const std::vector<double>& times = commit.times.values_ns(statistic);
  Json json{{"hash", commit.facts["hash"]},
            {"short_hash", commit.facts["short_hash"]},
            {"committed_at", commit.facts["committed_at"]},
            {"branch", commit.facts["branch"]},
            {"run_ids", commit.run_ids},
            {"busy_run_ids", commit.busy_run_ids},
            {"times_ns", times},
            {"time_ns", nullptr},
            {"min_ns", nullptr},
            {"max_ns", nullptr}};
  if (times.empty()) return json;
  json["time_ns"] = *commit.times.time_ns(statistic);
  json["min_ns"] = *std::ranges::min_element(times);
  json["max_ns"] = *std::ranges::max_element(times);
  return json;
}

/// The commits of a series in their order.
std::vector<const MeasuredCommit*> ordered(const Series& series, const std::vector<std::string>& known) {
  std::vector<StoredCommit> stored;
  std::vector<const MeasuredCommit*> commits;
  for (const auto& [hash, commit] : series.commits) {
    stored.push_back({hash, text_at(commit.facts, "committed_at"), split(text_at(commit.facts, "parents"), ' ')});
    commits.push_back(&commit);
  }
  std::vector<const MeasuredCommit*> in_order;
  for (const std::size_t i : commit_order(stored, known)) in_order.push_back(commits[i]);
  return in_order;
}

double median_of(const std::vector<std::vector<double>>& commits, std::size_t begin, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = begin; i < end; ++i) values.insert(values.end(), commits[i].begin(), commits[i].end());
  return measure::median(values);
}

Json series_json(const Series& series, const HistoryRequest& request, double level) {
  const std::vector<const MeasuredCommit*> commits = ordered(series, request.known);
  std::vector<std::vector<StepStatistic>> statistics;
  for (const MeasuredCommit* commit : commits) statistics.push_back(commit->times.statistics());
  // By all runs: a single commit with slow steps must not decide for the others.
  std::vector<StepStatistic> all;
  for (const auto& each : statistics) all.insert(all.end(), each.begin(), each.end());
  const StepStatistic statistic = measure::common_statistic({all});
  Json json{{"title", series.facts["title"]},     {"project", series.facts["project"]},
            {"machine", series.facts["machine"]}, {"statistic", measure::to_string(statistic)},
            {"commits", Json::array()},           {"changes", Json::array()}};
  std::vector<std::vector<double>> values;
  std::vector<std::size_t> positions;  // of the commits that have values
  std::size_t busy_runs = 0;
  for (const MeasuredCommit* commit : commits) {
    if (commit->times.runs() > 0) {
      positions.push_back(json["commits"].size());
      values.push_back(commit->times.values_ns(statistic));
    }
    busy_runs += commit->busy_run_ids.size();
    json["commits"].push_back(commit_json(*commit, statistic));
  }
  json["busy_runs"] = busy_runs;
  // If the machine was busy in most runs, it disturbed the others, too, in ways that the loop does not notice.
  const bool enough = positions.size() >= measure::kLeastCommits && all.size() >= busy_runs;
  json["enough_runs"] = enough;
  if (!enough) return json;
  for (const measure::ChangePoint& change : measure::find_change_points(values, request.margin, level)) {
    Json& found = json["changes"].emplace_back(Json{{"commit", positions[change.commit]},
                                                    {"begin", positions[change.begin]},
                                                    {"end", positions[change.end - 1] + 1},
                                                    {"before_ns", median_of(values, change.begin, change.commit)},
                                                    {"after_ns", median_of(values, change.commit, change.end)}});
    put_comparison(found, change.found);
  }
  return json;
}

Json counts_json(const Counts& counts) {
  Json json = Json::array();
  for (const auto& [title, runs] : counts) json.push_back({{"title", title}, {"runs", runs}});
  return json;
}

/// "3 runs outside of a git repository left out: a; b"; empty without runs.
std::string named(const Json& counts, const std::string& what) {
  static constexpr std::size_t kMost = 3;
  std::int64_t runs = 0;
  std::vector<std::string> titles;
  for (const Json& each : counts) {
    runs += integer_at(each, "runs");
    titles.push_back(text_at(each, "title"));
  }
  if (runs == 0) return "";
  const std::string cases = titles.size() > kMost ? std::to_string(titles.size()) + " cases" : join(titles, "; ");
  return std::to_string(runs) + (runs == 1 ? " run " : " runs ") + what + " left out: " + cases;
}

}  // namespace

Json history_of(const store::ResultsDatabase& database, const HistoryRequest& request) {
  const std::optional<plan::Regex> filter =
      request.filter.empty() ? std::nullopt : std::optional<plan::Regex>(std::in_place, "CASE", request.filter);
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, Series> all;
  std::vector<Key> keys;  // in the order of the first runs
  std::map<std::string, Counts> outside{{"without_commit", {}}, {"dirty", {}}, {"untimed", {}}, {"busy", {}}};
  const PartlyBusyRuns partly_busy = partly_busy_runs(database);
  for_rows(database, kRuns, [&](Json run) {
    const std::string title = text_at(run, "title");
    if (filter && !filter->found_in(title)) return;
    if (const std::string why = obstacle(run); !why.empty()) {
      ++outside[why][title];
      return;
    }
    const Key key{text_at(run, "case_key"), text_at(run, "project"), text_at(run, "machine"), text_at(run, "clock")};
    const auto [found, is_new] = all.try_emplace(key);
    if (is_new) keys.push_back(key);
    const bool is_busy = !keep_quiet_steps(run, partly_busy);
    if (is_busy) ++outside["busy"][title];
    add_run(found->second, run, is_busy);
  });
  Json series = Json::array();
  for (const Key& key : keys)
    series.push_back(series_json(all[key], request, request.level / static_cast<double>(keys.size())));
  Json history{{"margin", request.margin},
               {"level", request.level},
               {"least_commits", measure::kLeastCommits},
               {"series", series}};
  for (const auto& [why, counts] : outside) history[why] = counts_json(counts);
  return history;
}

std::vector<std::string> stored_hashes(const store::ResultsDatabase& database) {
  std::vector<std::string> hashes;
  for (const auto& row : database.query("SELECT DISTINCT hash FROM run_commit ORDER BY hash").rows)
    hashes.push_back(row.at(0).text);
  return hashes;
}

std::vector<std::string> history_notes(const Json& history) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& note) {
    if (!note.empty()) notes.push_back(note);
  };
  add(named(history["without_commit"], "outside of a git repository"));
  add(named(history["dirty"], "with changed tracked files"));
  add(named(history["untimed"], "without a step time"));
  add(named(history["busy"], "measured on a busy machine"));
  Counts few;
  for (const Json& series : history["series"]) {
    const auto commits = series["commits"].size();
    if (commits < measure::kLeastCommits) few[text_at(series, "title")] += static_cast<std::int64_t>(commits);
  }
  for (const auto& [title, commits] : few)
    add(title + ": " + std::to_string(commits) + (commits == 1 ? " commit" : " commits") + "; a change is found from " +
        std::to_string(measure::kLeastCommits) + " on, 'kymo compare' compares two");
  return notes;
}

}  // namespace kymo::terminal

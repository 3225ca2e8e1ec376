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

struct MeasuredCommit {
  Json facts;  // of one of its runs
  std::vector<std::int64_t> run_ids;
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

void add_run(Series& series, const Json& run) {
  series.facts = run;
  MeasuredCommit& commit = series.commits[text_at(run, "hash")];
  commit.times.add(run);
  commit.facts = run;
  commit.run_ids.push_back(integer_at(run, "run_id"));
}

Json commit_json(const MeasuredCommit& commit, StepStatistic statistic) {
  const std::vector<double>& times = commit.times.values_ns(statistic);
  return {{"hash", commit.facts["hash"]},
          {"short_hash", commit.facts["short_hash"]},
          {"committed_at", commit.facts["committed_at"]},
          {"branch", commit.facts["branch"]},
          {"run_ids", commit.run_ids},
          {"times_ns", times},
          {"time_ns", *commit.times.time_ns(statistic)},
          {"min_ns", *std::ranges::min_element(times)},
          {"max_ns", *std::ranges::max_element(times)}};
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
  for (const MeasuredCommit* commit : commits) {
    json["commits"].push_back(commit_json(*commit, statistic));
    values.push_back(commit->times.values_ns(statistic));
  }
  for (const measure::ChangePoint& change : measure::find_change_points(values, request.margin, level)) {
    Json& found = json["changes"].emplace_back(Json{{"commit", change.commit},
                                                    {"begin", change.begin},
                                                    {"end", change.end},
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
  std::map<std::string, Counts> outside{{"without_commit", {}}, {"dirty", {}}, {"untimed", {}}};
  for_rows(database, kRuns, [&](const Json& run) {
    const std::string title = text_at(run, "title");
    if (filter && !filter->found_in(title)) return;
    if (const std::string why = obstacle(run); !why.empty()) {
      ++outside[why][title];
      return;
    }
    const Key key{text_at(run, "case_key"), text_at(run, "project"), text_at(run, "machine"), text_at(run, "clock")};
    const auto [found, is_new] = all.try_emplace(key);
    if (is_new) keys.push_back(key);
    add_run(found->second, run);
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

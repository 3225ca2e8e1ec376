// SPDX-License-Identifier: Apache-2.0
#include "terminal/history.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/ranges.hpp"
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
         t.median_ms * 1e6 AS median_ns, t.mean_ms * 1e6 AS mean_ns, t.min_ms * 1e6 AS min_ns,
         c.project, c.hash, c.short_hash, c.parents, c.committed_at, c.branch, c.dirty
  FROM run r
  JOIN run_list l ON l.run_id = r.run_id
  LEFT JOIN phase_time t ON t.run_id = r.run_id AND t.phase = 'step'
  LEFT JOIN run_commit c ON c.run_id = r.run_id
  WHERE r.status NOT IN ('running', 'skipped') ORDER BY r.run_id)";

/// Steps of a run during which the machine was not busy.
struct QuietSteps {
  bool any_loop = false;  // measured while it was not busy
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
  for_rows(database, "SELECT run_id, busy_loops < loops AS any FROM machine_slowdown WHERE busy_loops > 0",
           [&](const Json& row) {
             runs[integer_at(row, "run_id")].any_loop = row["any"] != 0;
             ids.push_back(std::to_string(integer_at(row, "run_id")));
           });
  if (ids.empty()) return runs;
  for_rows(database, kQuietSteps + join(ids, ", ") + ") GROUP BY s.run_id", [&](const Json& row) {
    QuietSteps& run = runs[integer_at(row, "run_id")];
    run = {run.any_loop, integer_at(row, "count"), integer_at(row, "steps"), row["median_ns"], row["mean_ns"]};
  });
  return runs;
}

/// A run with the times of its quiet steps.
struct TimedRun {
  Json facts;
  bool is_busy = false;   // too few of its steps are quiet
  bool was_quiet = true;  // at least once
};

TimedRun timed_run(Json run, const PartlyBusyRuns& busy) {
  const auto found = busy.find(integer_at(run, "run_id"));
  if (found == busy.end()) return {std::move(run)};
  const QuietSteps& quiet = found->second;
  run["median_ns"] = quiet.median_ns;
  run["mean_ns"] = quiet.mean_ns;
  const bool enough = quiet.count >= kLeastQuietSteps && kLeastQuietShare * quiet.count >= quiet.of;
  return {std::move(run), !enough, quiet.any_loop};
}

using MeasuredCommit = std::vector<TimedRun>;

struct Series {
  Json facts;                                     // of one of its runs
  std::map<std::string, MeasuredCommit> commits;  // by hash
};

/// What is compared of a commit.
struct CommitTimes {
  Json facts;                              // of one of its runs
  std::vector<std::int64_t> run_ids;       // in the order of times_ns
  std::vector<std::int64_t> busy_run_ids;  // not compared
  std::vector<double> times_ns;
};

/// By the fastest steps, runs count in which the machine was not busy at least once, if they were undisturbed;
/// otherwise those that have enough quiet steps.
CommitTimes times_of(const MeasuredCommit& commit, StepStatistic statistic) {
  const bool by_fastest = statistic == StepStatistic::kFastest;
  std::vector<double> candidates;
  const auto is_candidate = [&](const TimedRun& run) { return by_fastest ? run.was_quiet : !run.is_busy; };
  for (const TimedRun& run : commit)
    if (is_candidate(run)) candidates.push_back(value_ns(run.facts, statistic));
  if (by_fastest) candidates = measure::undisturbed(candidates);
  CommitTimes times{commit.back().facts, {}, {}, {}};
  for (const TimedRun& run : commit) {
    const std::int64_t id = integer_at(run.facts, "run_id");
    if (is_candidate(run) && value_ns(run.facts, statistic) <= *std::ranges::max_element(candidates)) {
      times.run_ids.push_back(id);
      times.times_ns.push_back(value_ns(run.facts, statistic));
    } else {
      times.busy_run_ids.push_back(id);
    }
  }
  return times;
}

/// Leaves out commits in none of whose runs the machine let a step through: whose time exceeds that of a commit among
/// the two before and that of one among the two after, by more than the difference between undisturbed runs. A
/// regression of three commits is kept, and a commit at an end of the series.
void leave_out_disturbed_commits(std::vector<CommitTimes>& commits) {
  constexpr std::size_t kNeighbors = 2;
  std::vector<CommitTimes*> timed;
  std::vector<double> times_ns;
  for (CommitTimes& commit : commits) {
    if (commit.times_ns.empty()) continue;
    timed.push_back(&commit);
    times_ns.push_back(measure::summarize(commit.times_ns).median);
  }
  for (std::size_t i = 1; i + 1 < timed.size(); ++i) {
    const auto at = times_ns.begin() + static_cast<std::ptrdiff_t>(i);
    const auto before = std::min_element(at - static_cast<std::ptrdiff_t>(std::min(i, kNeighbors)), at);
    const auto after =
        std::min_element(at + 1, at + 1 + static_cast<std::ptrdiff_t>(std::min(timed.size() - 1 - i, kNeighbors)));
    if (*at <= measure::kUndisturbed * std::max(*before, *after)) continue;
    append_range(timed[i]->busy_run_ids, timed[i]->run_ids);
    timed[i]->run_ids.clear();
    timed[i]->times_ns.clear();
  }
}

using Counts = std::map<std::string, std::int64_t>;  // runs by title

/// Why a run belongs to no series; empty if it does.
std::string obstacle(const Json& run) {
  if (run["hash"].is_null()) return "without_commit";
  if (run["dirty"] == 1) return "dirty";
  const auto is_positive = [&](const char* time) { return real_at(run, time) > 0; };
  const bool is_timed = run["status"] == "ok" && !run["clock"].is_null() &&
                        std::ranges::all_of(std::array{"median_ns", "mean_ns", "min_ns"}, is_positive);
  return is_timed ? "" : "untimed";
}

Json commit_json(const CommitTimes& commit) {
  Json json{{"hash", commit.facts["hash"]},
            {"short_hash", commit.facts["short_hash"]},
            {"committed_at", commit.facts["committed_at"]},
            {"branch", commit.facts["branch"]},
            {"run_ids", commit.run_ids},
            {"busy_run_ids", commit.busy_run_ids},
            {"times_ns", commit.times_ns},
            {"time_ns", nullptr},
            {"min_ns", nullptr},
            {"max_ns", nullptr}};
  if (commit.times_ns.empty()) return json;
  json["time_ns"] = measure::summarize(commit.times_ns).median;
  json["min_ns"] = *std::ranges::min_element(commit.times_ns);
  json["max_ns"] = *std::ranges::max_element(commit.times_ns);
  return json;
}

/// The commits of a series in their order.
std::vector<const MeasuredCommit*> ordered(const Series& series, const std::vector<std::string>& known) {
  std::vector<StoredCommit> stored;
  std::vector<const MeasuredCommit*> commits;
  for (const auto& [hash, commit] : series.commits) {
    const Json& facts = commit.back().facts;
    stored.push_back({hash, text_at(facts, "committed_at"), split(text_at(facts, "parents"), ' ')});
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

/// By all runs: a single commit with slow steps must not decide for the others. If the machine was busy in most of
/// them, their usual steps say little.
StepStatistic statistic_of(const std::vector<const MeasuredCommit*>& commits) {
  std::vector<StepStatistic> quiet, all;
  for (const MeasuredCommit* commit : commits) {
    for (const TimedRun& run : *commit) {
      all.push_back(terminal::statistic_of(run.facts));
      if (!run.is_busy) quiet.push_back(all.back());
    }
  }
  const bool mostly_busy = 2 * quiet.size() < all.size();
  if (mostly_busy && measure::common_statistic({all}) == StepStatistic::kMedian) return StepStatistic::kFastest;
  return measure::common_statistic({quiet});
}

Json series_json(const Series& series, const HistoryRequest& request, double level) {
  const std::vector<const MeasuredCommit*> commits = ordered(series, request.known);
  const StepStatistic statistic = statistic_of(commits);
  Json json{{"title", series.facts["title"]},     {"project", series.facts["project"]},
            {"machine", series.facts["machine"]}, {"statistic", measure::to_string(statistic)},
            {"commits", Json::array()},           {"changes", Json::array()}};
  std::vector<CommitTimes> all;
  std::int64_t runs = 0, busy_runs = 0;
  for (const MeasuredCommit* commit : commits) {
    all.push_back(times_of(*commit, statistic));
    runs += std::ssize(*commit);
    busy_runs += std::ranges::count_if(*commit, &TimedRun::is_busy);
  }
  if (statistic == StepStatistic::kFastest) leave_out_disturbed_commits(all);
  std::vector<std::vector<double>> values;
  std::vector<std::size_t> positions;  // of the commits that have values
  for (std::size_t i = 0; i < all.size(); ++i) {
    json["commits"].push_back(commit_json(all[i]));
    if (all[i].times_ns.empty()) continue;
    positions.push_back(i);
    values.push_back(all[i].times_ns);
  }
  json["busy_runs"] = busy_runs;
  // If the machine was busy in most runs, it disturbed the usual steps of the others, too, in ways that the loop does
  // not notice. It disturbs the fastest steps of whole commits if it does so in most commits.
  const bool mostly_busy =
      statistic == StepStatistic::kFastest ? 2 * positions.size() < commits.size() : 2 * busy_runs > runs;
  const bool enough = positions.size() >= measure::kLeastCommits && !mostly_busy;
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
    found->second.facts = run;
    found->second.commits[text_at(run, "hash")].push_back(timed_run(std::move(run), partly_busy));
  });
  Json series = Json::array();
  for (const Key& key : keys) {
    const Json& added =
        series.emplace_back(series_json(all[key], request, request.level / static_cast<double>(keys.size())));
    std::int64_t busy = 0;
    for (const Json& commit : added["commits"]) busy += std::ssize(commit["busy_run_ids"]);
    if (busy > 0) outside["busy"][text_at(added, "title")] += busy;
  }
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

// SPDX-License-Identifier: Apache-2.0
#include "terminal/comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "measure/comparison.hpp"
#include "measure/ratio_text.hpp"
#include "measure/statistics.hpp"
#include "report/output.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"
#include "terminal/verdict.hpp"

namespace kymo::terminal {
namespace {

constexpr std::size_t kMaxNamedCases = 3;
constexpr double kClockDifference = 0.01;
constexpr double kLoopDifference = measure::kBusyLoop - 1;

/// The runs of one case on one side.
struct Group {
  SideTimes times;                    // of the phase
  std::vector<std::int64_t> run_ids;  // of the same runs
  std::vector<double> sm_clocks_mhz;  // of the runs that have readings
  std::vector<double> loops_ns;       // likewise
  std::set<std::string> clocks, machines, processes, failures;
  std::int64_t failed = 0;
  std::int64_t of_older_builds = 0;
  Json any;  // one of the runs; all have the same workload and settings
};
using Groups = std::map<std::string, Group>;

std::optional<measure::LoopTimes> loop_of(const Json& run) {
  if (run["loop_ns"].is_null()) return std::nullopt;
  return measure::LoopTimes{real_at(run, "fastest_loop_ns"), real_at(run, "loop_ns")};
}

void add_run(Group& group, const Json& run, const std::string& phase) {
  if (group.any.is_null()) group.any = run;
  if (run["status"] != "ok") {
    ++group.failed;
    group.failures.insert(text_at(run, "status"));
    return;
  }
  if (!run["phases"].contains(phase)) return;
  const Json& time = run["phases"][phase];
  if (!group.times.add(time, loop_of(run))) return;
  group.run_ids.push_back(integer_at(run, "run_id"));
  group.clocks.insert(text_at(time, "clock"));
  if (!run["sm_clock_mhz"].is_null()) group.sm_clocks_mhz.push_back(real_at(run, "sm_clock_mhz"));
  if (!run["loop_ns"].is_null()) group.loops_ns.push_back(real_at(run, "loop_ns"));
  group.machines.insert(text_at(run, "machine"));
  group.processes.insert(text_at(run, "process"));
}

/// Groups the runs by case. Cases missing from `keys` are appended in the order of their first runs.
Groups groups_of(const SideRuns& runs, const std::string& phase, std::vector<std::string>& keys) {
  struct Newest {
    std::pair<std::string, std::int64_t> position;  // runs with the same start time are ordered by id
    std::string build;
  };
  std::map<std::string, Newest> newest;
  for (const Json& run : runs) {
    Newest& known = newest[text_at(run, "case_key")];
    const std::pair position{text_at(run, "began"), integer_at(run, "run_id")};
    if (position >= known.position) known = {position, text_at(run, "build")};
  }
  Groups groups;
  for (const Json& run : runs) {
    const std::string key = text_at(run, "case_key");
    if (!contains(keys, key)) keys.push_back(key);
    Group& group = groups[key];
    if (text_at(run, "build") == newest[key].build)
      add_run(group, run, phase);
    else
      ++group.of_older_builds;
  }
  return groups;
}

std::string joined(const std::set<std::string>& words) { return join({words.begin(), words.end()}, ", "); }

Json side_of(const Group& group, StepStatistic statistic) {
  const auto median_of = [](const std::vector<double>& values) {
    return values.empty() ? Json(nullptr) : Json(measure::summarize(values).median);
  };
  Json side{{"runs", group.times.runs()},
            {"run_ids", group.run_ids},
            {"failed", group.failed},
            {"clock", nullptr},
            {"sm_clock_mhz", median_of(group.sm_clocks_mhz)},
            {"loop_ns", median_of(group.loops_ns)},
            {"machine", joined(group.machines)}};
  put_times(side, group.times, statistic);
  if (group.times.runs() > 0) side["clock"] = joined(group.clocks);
  return side;
}

/// A lower clock explains a longer time even if the code did not change.
void note_sm_clocks(const Json& before, const Json& after, Json& notes) {
  if (before["sm_clock_mhz"].is_null() || after["sm_clock_mhz"].is_null()) return;
  const auto first = real_at(before, "sm_clock_mhz");
  const auto second = real_at(after, "sm_clock_mhz");
  if (std::abs(second / first - 1) > kClockDifference)
    notes.push_back(fmt::format("SM clocks differ: {:.0f} MHz before, {:.0f} MHz after", first, second));
}

/// The same loop takes longer on a busy machine.
void note_loops(const Json& before, const Json& after, Json& notes) {
  if (before["loop_ns"].is_null() || after["loop_ns"].is_null()) return;
  const double ratio = real_at(after, "loop_ns") / real_at(before, "loop_ns");
  if (std::abs(ratio - 1) > kLoopDifference)
    notes.push_back("a reference loop between the steps was " + measure::ratio_text(ratio) +
                    " after: other processes or a lower clock slowed the machine " + (ratio > 1 ? "after" : "before") +
                    "; measure both sides in turn");
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void note_side(const char* side, const Group& group, Json& notes) {
  const std::string start = std::string(side) + ": ";
  const auto failed = static_cast<std::size_t>(group.failed);
  if (failed > 0)
    notes.push_back(start + counted(failed, "run") + " excluded (status: " + joined(group.failures) + ")");
  if (group.of_older_builds > 0)
    notes.push_back(start + counted(static_cast<std::size_t>(group.of_older_builds), "run") +
                    " of an older build of the plugin excluded");
  if (group.machines.size() > 1) notes.push_back(start + "measured on different machines: " + joined(group.machines));
  if (group.processes.size() < group.times.runs())
    notes.push_back(
        start + counted(group.times.runs(), "run") + " shared " +
        (group.processes.size() == 1 ? "a process" : std::to_string(group.processes.size()) + " processes") +
        " and are not independent; use 'kymo run --fresh' to start a new process for each run");
}

bool same_clock(const Group& before, const Group& after) {
  return before.clocks.size() == 1 && before.clocks == after.clocks;
}

/// What a reader of one number per side would miss: slow steps, and another conclusion by the other statistic.
void note_statistics(const Group& before, const Group& after, const TimeComparison& compared, double margin,
                     Json& notes) {
  for (const auto& [side, group] : {std::pair{"before", &before}, std::pair{"after", &after}})
    if (const std::string unlike = group->times.unlike_steps(); !unlike.empty())
      notes.push_back(std::string(side) + ": " + unlike);
  const std::vector<const SideTimes*> sides{&before.times, &after.times};
  if (const std::string busy = busy_sentence(compared.statistic, {"before", "after"}, sides); !busy.empty())
    notes.push_back(busy);
  if (const std::string other = other_sentence("before", "after", compared, margin); !other.empty())
    notes.push_back(other);
}

/// How to make more runs of a side.
void note_few_runs(const Json& row, Json& notes) {
  const auto first = integer_at(row["before"], "runs"), second = integer_at(row["after"], "runs");
  if (std::min(first, second) >= measure::kRunsForVerdict) return;
  const std::string enough = std::to_string(measure::kRunsForVerdict);
  notes.push_back(
      fmt::format("too few runs for a verdict, {} before and {} after, where {} of each are needed: {} --repeat {}",
                  first, second, enough, row["timing"] == "free" ? "kymo trace" : "kymo run --fresh", enough));
}

Json row_of(const Group& before, const Group& after, const std::string& phase, double margin) {
  const Json& run = before.any.is_null() ? after.any : before.any;
  const StepStatistic statistic = compared_statistic({&before.times, &after.times});
  Json row{{"workload", run["workload"]},
           {"parameters", run["parameters"]},
           {"ranks", run["ranks"]},
           {"device", run["device"]},
           {"timing", run["timing"]},
           {"sync", run["sync"]},
           {"phase", phase},
           {"before", side_of(before, statistic)},
           {"after", side_of(after, statistic)}};
  put_time_comparison(row, std::nullopt);
  row["statistic"] = measure::to_string(statistic);
  Json& notes = row["notes"] = Json::array();
  note_side("before", before, notes);
  note_side("after", after, notes);
  if (before.times.runs() == 0 || after.times.runs() == 0) return row;
  if (!same_clock(before, after)) {
    notes.push_back("timed on different clocks (" + joined(before.clocks) + "; " + joined(after.clocks) +
                    "): not compared");
    return row;
  }
  if (before.machines != after.machines)
    notes.push_back("measured on different machines: " + joined(before.machines) + "; " + joined(after.machines));
  else
    note_loops(row["before"], row["after"], notes);
  note_sm_clocks(row["before"], row["after"], notes);
  const TimeComparison compared = compare_times(before.times, after.times, margin);
  put_time_comparison(row, compared);
  note_statistics(before, after, compared, margin, notes);
  note_few_runs(row, notes);
  return row;
}

void require_phase(const SideRuns& before, const SideRuns& after, const std::string& phase) {
  std::set<std::string> phases;
  for (const SideRuns* side : {&before, &after})
    for (const Json& run : *side)
      for (const auto& [name, time] : run["phases"].items()) phases.insert(name);
  if (!phases.empty() && !phases.contains(phase))
    throw UsageError("no run has a phase " + quote(phase) + suggestion(phase, {phases.begin(), phases.end()}));
}

/// For each row, the settings that distinguish it from the other rows of its workload.
std::vector<std::string> parameters_of(const Json& rows) {
  std::vector<WorkloadSettings> cases;
  for (const Json& row : rows) cases.push_back(settings_of(row, {"ranks", "device", "timing", "sync"}));
  return measure::differing(cases);
}

/// The runs that a verdict would need: "5 on each side", "about 12 more on each side"; empty if it has one.
std::string needed_runs(const Json& row) {
  const bool compared = !row["verdict"].is_null();
  if (compared &&
      std::min(integer_at(row["before"], "runs"), integer_at(row["after"], "runs")) < measure::kRunsForVerdict)
    return std::to_string(measure::kRunsForVerdict) + " on each side";
  return row["more_runs"].is_null() ? "" : "about " + row["more_runs"].dump() + " more on each side";
}

std::string whose(const std::vector<std::string>& cases, std::size_t all) {
  if (cases.size() == all && all > 1) return "all cases";
  return cases.size() > kMaxNamedCases ? std::to_string(cases.size()) + " cases" : join(cases, "; ");
}

}  // namespace

Json comparison_rows(const SideRuns& before, const SideRuns& after, const std::string& phase, double margin) {
  require_phase(before, after, phase);
  std::vector<std::string> keys;
  Groups first = groups_of(before, phase, keys);
  Groups second = groups_of(after, phase, keys);
  Json rows = Json::array();
  for (const std::string& key : keys) rows.push_back(row_of(first[key], second[key], phase, margin));
  return rows;
}

std::string verdict_text(const Json& row) {
  if (row["before"]["time_ns"].is_null() && row["after"]["time_ns"].is_null()) return "no runs to compare";
  if (row["before"]["time_ns"].is_null()) return "only after";
  if (row["after"]["time_ns"].is_null()) return "only before";
  return row["verdict"].is_null() ? "not compared" : text_at(row, "verdict");
}

std::vector<std::string> comparison_titles(const Json& rows) {
  std::vector<std::string> titles = parameters_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    titles[i] = text_at(rows[i], "workload") + (titles[i].empty() ? "" : " ") + titles[i];
  return titles;
}

report::Document comparison_document(Json rows) {
  const std::vector<std::string> parameters = parameters_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]["texts"] = {
        {"parameters", parameters[i]}, {"verdict", verdict_text(rows[i])}, {"needs", needed_runs(rows[i])}};
    for (const char* side : {"before", "after"}) rows[i][side].erase("run_ids");  // SQLite parses the text repeatedly
  }
  return report::Output("compare", {{"cases", dump_json(rows)}}).document();
}

std::vector<std::string> comparison_notes(const Json& rows) {
  std::vector<std::string> notes;  // in order of first occurrence
  std::map<std::string, std::vector<std::string>> cases;
  const std::vector<std::string> titles = comparison_titles(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Json& each : rows[i]["notes"]) {
      const auto note = each.get<std::string>();
      if (cases[note].empty()) notes.push_back(note);
      cases[note].push_back(titles[i]);
    }
  }
  for (std::string& note : notes) note = whose(cases[note], rows.size()) + ": " + note;
  const auto on_both = [](const Json& row) {
    return !row["before"]["time_ns"].is_null() && !row["after"]["time_ns"].is_null();
  };
  if (std::ranges::none_of(rows, on_both))
    notes.push_back(
        "no case has runs on both sides: workload, parameters, ranks, device, timing and sync must match; use "
        "'kymo ab' to compare workloads");
  return notes;
}

}  // namespace kymo::terminal

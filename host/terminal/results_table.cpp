// SPDX-License-Identifier: Apache-2.0
#include "terminal/results_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "measure/statistics.hpp"
#include "report/number.hpp"
#include "report/output.hpp"
#include "report/renderer.hpp"
#include "terminal/print.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"

namespace kymo::terminal {
namespace {

constexpr std::size_t kAllShown = 40;  // with more, kShownCases of them are shown
constexpr std::size_t kShownCases = 20;
constexpr std::size_t kMaxParameterColumns = 6;  // more parameters share one column
/// Metrics that warnings tell in words.
const std::set<std::string> kToldByWarnings{"assumed_step_boundary", "not_observed", "other_profiler"};
const std::vector<std::string> kOptions{"ranks", "device", "timing", "sync", "warmup"};

/// The runs of one case with one build of the plugin.
struct CaseRuns {
  std::vector<Json> runs;
  const Json& first() const { return runs.front(); }
  /// The runs that have a time of the phase.
  std::vector<const Json*> timed(const std::string& phase) const {
    std::vector<const Json*> found;
    for (const Json& run : runs)
      if (run["status"] == "ok" && run["phases"].contains(phase)) found.push_back(&run["phases"][phase]);
    return found;
  }
};

std::vector<CaseRuns> grouped(const Json& results) {
  std::vector<CaseRuns> cases;
  std::map<std::string, std::size_t> known;
  for (const Json& run : results) {
    const std::string key = text_at(run, "plan_key") + text_at(run, "label");
    const auto [position, is_new] = known.try_emplace(key, cases.size());
    if (is_new) cases.emplace_back();
    cases[position->second].runs.push_back(run);
  }
  return cases;
}

SideTimes times_of(const CaseRuns& each, const std::string& phase) {
  SideTimes times;
  for (const Json* run : each.timed(phase)) times.add(*run);
  return times;
}

/// What represents the runs of a case, by their steps.
StepStatistic case_statistic(const CaseRuns& each) {
  return measure::common_statistic({times_of(each, "step").statistics()});
}

/// "3", "3, 5, 7" or, of more repetitions, "3, 5 … 21".
std::string run_cell(const CaseRuns& each) {
  std::vector<std::string> ids;
  for (const Json& run : each.runs) ids.push_back(run["run_id"].dump());
  return ids.size() <= 3 ? join(ids, ", ") : ids[0] + ", " + ids[1] + " … " + ids.back();
}

std::string status_text(const CaseRuns& each) {
  std::map<std::string, std::size_t> counts;
  for (const Json& run : each.runs) ++counts[text_at(run, "status")];
  if (counts.size() == 1) return counts.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts) parts.push_back(std::to_string(count) + " " + status);
  return join(parts, ", ");
}

std::string verification_text(const Json& run) {
  const auto word = text_at(run, "verification");
  if (word == "unavailable") return "not verified";
  return word.empty() ? "-" : word;
}

/// Text that tells the builds of the plugins apart: file name, path, or digest of the file.
std::vector<std::string> builds_of(const std::vector<CaseRuns>& cases) {
  const auto file = [](const Json& run) { return text_at(run, "plugin_file"); };
  const auto digest = [](const Json& run) { return text_at(run, "plugin_sha256"); };
  using Name = std::function<std::string(const Json&)>;
  const std::array<Name, 3> names{[&](const Json& run) { return std::filesystem::path(file(run)).filename().string(); },
                                  [&](const Json& run) {
                                    const std::filesystem::path path = file(run);
                                    return (path.parent_path().filename() / path.filename()).string();
                                  },
                                  [&](const Json& run) {
                                    return std::filesystem::path(file(run)).filename().string() + " " +
                                           digest(run).substr(0, 8);
                                  }};
  std::vector<std::string> texts(cases.size());
  for (const Name& name : names) {
    std::map<std::string, std::set<std::string>> digests;  // of the builds with this name
    bool distinct = true;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      texts[i] = name(cases[i].first());
      auto& known = digests[texts[i]];
      known.insert(digest(cases[i].first()));
      distinct = distinct && known.size() == 1;
    }
    if (distinct) break;
  }
  return texts;
}

bool has_several_builds(const std::vector<CaseRuns>& cases) {
  std::map<std::string, std::set<std::string>> digests;
  for (const CaseRuns& each : cases)
    digests[each.first()["workload"].get<std::string>()].insert(each.first()["plugin_sha256"].get<std::string>());
  return std::any_of(digests.begin(), digests.end(), [](const auto& each) { return each.second.size() > 1; });
}

/// Whether the cases have too many different settings for one column each, or are several of a suite, which may differ
/// in everything.
bool needs_one_column(const std::vector<CaseRuns>& cases) {
  const auto suite_case = [](const CaseRuns& each) { return text_at(each.first(), "suite_case"); };
  if (std::ranges::any_of(cases, [&](const CaseRuns& each) { return suite_case(each) != suite_case(cases.front()); }))
    return true;
  std::vector<WorkloadSettings> settings;
  for (const CaseRuns& each : cases) settings.push_back(settings_of(each.first()));
  const auto names = measure::differing_names(settings);
  return names.size() > 1 || names.begin()->second.size() > kMaxParameterColumns;
}

/// What the table shows of the cases: an array of objects with the members `run` (a text), `runs`, `texts` and
/// `metrics`. The latter have a member for each column, whose value is the same kind for all cases.
class Cases {
 public:
  Cases(const std::vector<CaseRuns>& cases, Settings shown) : cases_(cases), shown_(shown), rows_(Json::array()) {
    for (const CaseRuns& each : cases)
      rows_.push_back({{"run", run_cell(each)},
                       {"runs", each.runs},
                       {"status", status_text(each)},
                       {"verification", verification_text(each.first())},
                       {"texts", Json::object()},
                       {"metrics", Json::object()}});
    add_identity();
    add_metrics();
  }
  const Json& rows() const { return rows_; }

 private:
  using CellOf = std::function<Json(std::size_t row)>;
  bool all() const { return shown_ == Settings::kAll; }

  /// Adds a column, unless all cells are empty or, if the table shows only what differs, are equal.
  void add(const char* object, const std::string& name, bool if_different, const CellOf& cell) {
    Json cells = Json::array();
    for (std::size_t row = 0; row < cases_.size(); ++row) cells.push_back(cell(row));
    const bool equal = std::ranges::all_of(cells, [&](const Json& each) { return each == cells.front(); });
    if (equal && (if_different || cells.front() == "")) return;
    for (std::size_t row = 0; row < cases_.size(); ++row) rows_[row][object][name] = std::move(cells[row]);
  }

  void add_identity() {
    if (all() || has_several_builds(cases_)) {
      const std::vector<std::string> builds = builds_of(cases_);
      add("texts", "build", false, [&](std::size_t row) { return builds[row]; });
    }
    if (!add_parameters())
      for (const std::string& option : kOptions) {
        const bool taken = cases_.front().first()["parameters"].contains(option);
        add("texts", taken ? "--" + option : option, !all(),
            [&](std::size_t row) { return cases_[row].first()[option]; });
      }
  }

  /// One column per parameter of a single workload; otherwise, or for many parameters, one column with the varying
  /// ones. Returns whether the options are among them.
  bool add_parameters() {
    const bool in_one_column = shown_ == Settings::kInOneColumn || (!all() && needs_one_column(cases_));
    std::vector<WorkloadSettings> settings;
    for (const CaseRuns& each : cases_) {
      settings.push_back(settings_of(each.first(), in_one_column ? kOptions : std::vector<std::string>{}));
      if (in_one_column) settings.back().workload += "\n" + text_at(each.first(), "suite_case");
    }
    const auto names = measure::differing_names(settings, all());
    if (in_one_column || (all() && names.size() > 1)) {
      const std::vector<std::string> texts = measure::differing(settings, all());
      add("texts", "parameters", false, [&](std::size_t row) { return texts[row]; });
      return in_one_column;
    }
    for (const std::string& name : names.begin()->second)
      add("texts", name, false, [&](std::size_t row) {
        const Json& parameters = cases_[row].first()["parameters"];
        return parameters.contains(name) ? parameters[name] : Json("");
      });
    return false;
  }

  void add_metrics() {
    // By case. Json finds a member by comparing it with all others.
    std::vector<std::map<std::string, const Json*>> metrics;
    std::set<std::string> names;
    for (const CaseRuns& each : cases_) {
      metrics.emplace_back();
      for (const auto& [name, metric] : each.first()["metrics"].items()) {
        metrics.back().emplace(name, &metric);
        if (all() || !kToldByWarnings.contains(name)) names.insert(name);
      }
    }
    for (const std::string& name : names)
      add("metrics", name, !all() && cases_.size() > 1, [&](std::size_t row) {
        const auto found = metrics[row].find(name);
        return found != metrics[row].end() ? metric_text(*found->second) : "";
      });
  }

  const std::vector<CaseRuns>& cases_;
  Settings shown_;
  Json rows_;
};

bool all_ok(const Json& results) {
  return std::all_of(results.begin(), results.end(), [](const Json& run) { return run["status"] == "ok"; });
}

/// The verification that all runs have in common; empty if they differ.
std::string common_verification(const Json& results) {
  std::set<std::string> words;
  for (const Json& run : results) words.insert(verification_text(run));
  return words.size() == 1 ? *words.begin() : "";
}

/// The runs of kShownCases cases: at most half of them are failed ones, the others the slowest.
Json failed_and_slowest(const std::vector<CaseRuns>& cases) {
  std::vector<std::pair<double, const CaseRuns*>> slowest;
  std::vector<const CaseRuns*> chosen, others;
  for (const CaseRuns& each : cases) {
    const auto time_ns = times_of(each, "step").time_ns(case_statistic(each));
    const auto status = text_at(each.first(), "status");
    if (time_ns)
      slowest.emplace_back(*time_ns, &each);
    else if (status != "skipped" && chosen.size() < kShownCases / 2)
      chosen.push_back(&each);
    else
      others.push_back(&each);
  }
  std::ranges::stable_sort(slowest, std::greater{}, [](const auto& each) { return each.first; });
  for (const auto& [time_ns, each] : slowest) chosen.push_back(each);
  append_range(chosen, others);
  chosen.resize(kShownCases);
  Json runs = Json::array();
  for (const CaseRuns* each : chosen)
    for (const Json& run : each->runs) runs.push_back(run);
  return runs;
}

}  // namespace

report::Document results_document(const Json& results, Settings shown, const std::vector<std::string>& lines) {
  const std::vector<CaseRuns> cases = grouped(results);
  return report::Output("results", {{"cases", dump_json(cases.empty() ? Json::array() : Cases(cases, shown).rows())},
                                    {"all", shown == Settings::kAll ? "1" : ""},
                                    {"lines", dump_json(Json(lines))}})
      .document();
}

std::string results_text(const Json& results, const TextStyle& style, const std::string& database) {
  const std::vector<CaseRuns> cases = grouped(results);
  const bool shows_all = style.wide || style.markdown || cases.size() <= kAllShown;
  const Json shown = shows_all ? results : failed_and_slowest(cases);
  std::vector<std::string> lines;
  if (!shows_all)
    lines.push_back(fmt::format("{} of {} cases (failed, then slowest); all: kymo runs --invocation {}{}", kShownCases,
                                cases.size(), value_text(results[0]["invocation_id"]), database_option(database)));
  if (const std::string agreed = agreement(results); !agreed.empty()) lines.push_back(agreed);
  append_range(lines, failures(results));
  for (const std::string& line : warnings(results, style.wide)) lines.push_back("warning: " + line);
  report::Document document = results_document(shown, style.wide ? Settings::kAll : Settings::kDiffering, lines);
  if (!report::fits(document, style)) document = results_document(shown, Settings::kInOneColumn, lines);
  return text_of(document, style);
}

std::string metric_text(const Json& metric) {
  const Json& value = metric["value"];
  const auto unit = metric["unit"].get<std::string>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return "";
  const auto number = value.get<double>();
  if ((unit == "B" || unit == "bytes") && std::abs(number) < 9e18) return format_bytes(std::llround(number));
  return report::general_text(number, 4) + (unit.empty() ? "" : " " + unit);
}

std::string agreement(const Json& results) {
  const std::string verification = common_verification(results);
  if (results.empty() || !all_ok(results)) return "";
  const std::string ok = results.size() == 1 ? "run ok" : std::to_string(results.size()) + " runs ok";
  const bool observed =
      std::ranges::all_of(results, [](const Json& each) { return text_at(each, "timing") == "free"; });
  if (verification.empty() || observed) return ok;  // programs that kymo observes have no reference
  return ok + (verification == "passed" ? ", verification passed" : verification == "-" ? ", not verified" : "");
}

std::string result_line(const Json& result) {
  std::string line = "run " + result["run_id"].dump() + ": " + text_at(result, "workload");
  for (const auto& [name, value] : result["parameters"].items()) line += " " + name + "=" + value_text(value);
  line += ": " + text_at(result, "status");
  if (result["phases"].contains("step")) line += ", " + named_time_text(result["phases"]["step"]);
  if (const auto detail = text_at(result, "detail"); !detail.empty()) line += " (" + detail + ")";
  return visible(line);
}

}  // namespace kymo::terminal

// SPDX-License-Identifier: Apache-2.0
#include "cli/results_table.hpp"

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
#include "cli/fit_table.hpp"
#include "cli/option_text.hpp"
#include "cli/run_results.hpp"
#include "cli/step_times.hpp"
#include "measure/statistics.hpp"
#include "report/number.hpp"

namespace kymo::cli {
namespace {

constexpr std::size_t kAllShown = 40;  // with more, kShownCases of them are shown
constexpr std::size_t kShownCases = 20;
constexpr double kSmallShare = 0.05;             // time outside of phases that is not worth a column
constexpr std::size_t kMaxParameterColumns = 6;  // more parameters share one column
/// Metrics that warnings tell in words.
const std::set<std::string> kToldByWarnings{"assumed_step_boundary", "not_observed", "other_profiler"};
const std::vector<std::string> kOptions{"ranks", "device", "timing", "sync", "warmup"};

// Order in which columns give way to a narrow terminal: the last first.
enum Optional { kNever, kSetting, kVerdict, kSpread, kRate, kPhase, kMean, kMetric };

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

std::string mean_text(const Json& phase) {
  std::string text = format_duration(real_at(phase, "mean_ns"));
  if (!phase["std_ns"].is_null()) text += " ± " + format_duration(real_at(phase, "std_ns"));
  return text;
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

/// Of one run the mean or median with its interval, of several the median over the runs.
std::string case_time(const CaseRuns& each, const std::string& phase, StepStatistic statistic, bool with_interval) {
  const auto timed = each.timed(phase);
  if (timed.size() == 1 && with_interval) return time_text(*timed.front(), statistic);
  const auto time_ns = times_of(each, phase).time_ns(statistic);
  return time_ns ? format_duration(*time_ns) : "";
}

std::string spread_text(const CaseRuns& each) {
  const SideTimes times = times_of(each, "step");
  if (times.runs() < 2) return "";
  const measure::Statistics between = measure::summarize(times.values_ns(case_statistic(each)));
  return format_duration(between.min) + " to " + format_duration(between.max);
}

/// Work of one step divided by the time that represents the runs.
std::string throughput_text(const CaseRuns& each, const char* work) {
  const auto timed = each.timed("step");
  if (timed.empty() || !timed.front()->contains(work)) return "";
  const auto time_ns = times_of(each, "step").time_ns(case_statistic(each));
  return time_ns ? rate_text((*timed.front())[work].get<double>() / (*time_ns / 1e9)) : "";
}

/// A bandwidth of a collective at the time that represents the runs.
std::string bandwidth_text(const CaseRuns& each, const char* name) {
  const auto timed = each.timed("step");
  if (timed.empty() || !timed.front()->contains(name)) return "";
  const auto time_ns = times_of(each, "step").time_ns(case_statistic(each));
  const double bytes = real_at(*timed.front(), name) * real_at(*timed.front(), "median_ns");  // GB/s × ns
  return time_ns ? rate_text(1e9 * bytes / *time_ns, "B/s") : "";
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

/// One column per parameter of a single workload; otherwise, or for many parameters, one column with the varying ones.
/// Returns whether the options are among them.
bool add_parameters(TableBuilder& builder, const std::vector<CaseRuns>& cases, Settings shown) {
  const bool all = shown == Settings::kAll;
  const bool in_one_column = shown == Settings::kInOneColumn;
  std::vector<WorkloadSettings> settings;
  for (const CaseRuns& each : cases) {
    settings.push_back(settings_of(each.first(), in_one_column ? kOptions : std::vector<std::string>{}));
    if (in_one_column) settings.back().workload += "\n" + text_at(each.first(), "suite_case");
  }
  const auto names = measure::differing_names(settings, all);
  if (in_one_column || (all && names.size() > 1)) {
    const std::vector<std::string> texts = measure::differing(settings, all);
    builder.add("parameters", false, kNever, [&](std::size_t row) { return texts[row]; });
    return in_one_column;
  }
  for (const std::string& name : names.begin()->second) {
    const bool right = cases.front().first()["parameters"][name].is_number();
    builder.add(name, right, kNever, [&](std::size_t row) { return settings[row].settings[name]; });
  }
  return false;
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

void add_options(TableBuilder& builder, const std::vector<CaseRuns>& cases, bool all) {
  for (const std::string& option : kOptions) {
    const bool taken = cases.front().first()["parameters"].contains(option);
    const auto cell = [&](std::size_t row) { return value_text(cases[row].first()[option]); };
    const bool right = cases.front().first()[option].is_number();
    if (all)
      builder.add(taken ? "--" + option : option, right, kNever, cell);
    else
      builder.add_if_different(taken ? "--" + option : option, right, kNever, cell);
  }
}

void add_identity(TableBuilder& builder, const std::vector<CaseRuns>& cases, Settings shown) {
  const bool all = shown == Settings::kAll;
  builder.add("run", true, kNever, [&](std::size_t row) { return run_cell(cases[row]); });
  builder.add_if_different("case", false, kNever,
                           [&](std::size_t row) { return value_text(cases[row].first()["suite_case"]); });
  builder.add("workload", false, kSetting, [&](std::size_t row) { return value_text(cases[row].first()["workload"]); });
  if (all || has_several_builds(cases)) {
    const std::vector<std::string> builds = builds_of(cases);
    builder.add("build", false, kNever, [&](std::size_t row) { return builds[row]; });
  }
  if (!add_parameters(builder, cases, shown)) add_options(builder, cases, all);
  builder.add_if_different("label", false, kSetting,
                           [&](std::size_t row) { return value_text(cases[row].first()["label"]); });
}

/// A fixed number of steps and a target for the mean ask for the mean.
bool shows_mean(const std::vector<CaseRuns>& cases) {
  return std::any_of(cases.begin(), cases.end(), [](const CaseRuns& each) {
    return each.first()["steps"].get<std::int64_t>() > 1 || !each.first()["until_relative_error"].is_null();
  });
}

bool represented_by_mean(const CaseRuns& each) { return case_statistic(each) == StepStatistic::kMean; }

/// Whether the median adds nothing to the mean.
bool is_told_by_mean(const CaseRuns& each) { return represented_by_mean(each) && !times_of(each, "step").disagree(); }

void add_times(TableBuilder& builder, const std::vector<CaseRuns>& cases, bool all) {
  const bool repeated =
      std::any_of(cases.begin(), cases.end(), [](const CaseRuns& each) { return each.runs.size() > 1; });
  if (repeated)
    builder.add("runs", true, kSpread,
                [&](std::size_t row) { return std::to_string(cases[row].timed("step").size()); });
  const bool has_means = std::ranges::any_of(cases, represented_by_mean);
  if (has_means)
    builder.add("mean step", true, kNever,
                [&](std::size_t row) { return case_time(cases[row], "step", StepStatistic::kMean, true); });
  if (!has_means || !std::ranges::all_of(cases, is_told_by_mean))
    builder.add("median step", true, kNever,
                [&](std::size_t row) { return case_time(cases[row], "step", StepStatistic::kMedian, true); });
  builder.add("between runs", true, kSpread, [&](std::size_t row) { return spread_text(cases[row]); });
  if (!all && (has_means || !shows_mean(cases))) return;
  builder.add("mean ± std", true, kMean, [&](std::size_t row) {
    const auto timed = cases[row].timed("step");
    return timed.size() == 1 ? mean_text(*timed.front()) : "";
  });
}

/// The phases of all cases, in their order. A single phase repeats the step; little time outside of phases is omitted.
std::vector<std::string> phases_of(const std::vector<CaseRuns>& cases, bool all) {
  std::vector<std::string> names;
  bool other = false;
  for (const CaseRuns& each : cases) {
    const auto step = each.timed("step");
    for (const auto& [name, time] : each.first()["phases"].items()) {
      if (name == "step" || each.timed(name).empty()) continue;
      if (name == "other")
        other = other || (!step.empty() && value_ns(time, case_statistic(each)) >
                                               kSmallShare * value_ns(*step.front(), case_statistic(each)));
      else if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  if (!all && names.size() < 2) return {};
  if (all || other) names.emplace_back("other");
  return names;
}

void add_work(TableBuilder& builder, const std::vector<CaseRuns>& cases) {
  const bool per_rank =
      std::ranges::any_of(cases, [](const CaseRuns& each) { return has_several_ranks(each.first()); });
  builder.add(rate_title("FLOP/s", per_rank), true, kRate,
              [&](std::size_t row) { return throughput_text(cases[row], "flops"); });
  builder.add(rate_title("B/s", per_rank), true, kRate,
              [&](std::size_t row) { return throughput_text(cases[row], "bytes"); });
  builder.add("algbw", true, kRate, [&](std::size_t row) { return bandwidth_text(cases[row], "algbw_gb_s"); });
  builder.add("busbw", true, kRate, [&](std::size_t row) { return bandwidth_text(cases[row], "busbw_gb_s"); });
}

void add_metrics(TableBuilder& builder, const std::vector<CaseRuns>& cases, bool all) {
  // By case. Json finds a member by comparing it with all others.
  std::vector<std::map<std::string, const Json*>> metrics;
  std::set<std::string> names;
  for (const CaseRuns& each : cases) {
    metrics.emplace_back();
    for (const auto& [name, metric] : each.first()["metrics"].items()) {
      metrics.back().emplace(name, &metric);
      if (all || !kToldByWarnings.contains(name)) names.insert(name);
    }
  }
  for (const std::string& name : names) {
    const auto cell = [&](std::size_t row) {
      const auto found = metrics[row].find(name);
      return found != metrics[row].end() ? metric_text(*found->second) : "";
    };
    if (all || cases.size() == 1)
      builder.add(name, true, kMetric, cell);
    else
      builder.add_if_different(name, true, kMetric, cell);
  }
}

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

std::string rate_text(double per_second, const std::string& unit) {
  static constexpr std::array<const char*, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  const std::size_t prefix = report::thousands_in(per_second, kPrefixes.size() - 1);
  return trim(fmt::format("{:.3g} {}{}", per_second / std::pow(1e3, prefix), kPrefixes[prefix], unit));
}

bool has_several_ranks(const Json& run) { return run["ranks"].get<std::int64_t>() > 1; }

std::string rate_title(const std::string& unit, bool per_rank) { return unit + (per_rank ? " per rank" : ""); }

std::string results_text(const Json& results, const TableStyle& style, const std::string& database) {
  const std::vector<CaseRuns> cases = grouped(results);
  const bool shows_all = style.wide || style.markdown || cases.size() <= kAllShown;
  const Json shown = shows_all ? results : failed_and_slowest(cases);
  TextTable table = results_table(shown, style.wide ? Settings::kAll : Settings::kDiffering);
  if (TextTable fitted = table; !style.wide && !style.markdown) {
    fit(fitted, style.columns);
    if (!fits(fitted, style.columns)) table = results_table(shown, Settings::kInOneColumn);
  }
  std::string text = table_text(table, style);
  if (!shows_all)
    text += fmt::format("{} of {} cases (failed, then slowest); all: kymo runs --invocation {}{}\n", kShownCases,
                        cases.size(), value_text(results[0]["invocation_id"]), database_option(database));
  const std::string bullet = style.markdown ? "- " : "";
  if (style.markdown) text += "\n";
  if (const std::string agreed = agreement(results); !agreed.empty()) text += bullet + agreed + "\n";
  for (const std::string& line : failures(results)) text += bullet + line + "\n";
  const std::string warning = style.colour ? "\033[33mwarning\033[0m: " : "warning: ";
  for (const std::string& line : warnings(results, style.wide)) text += bullet + warning + line + "\n";
  return style.text(text);
}

std::string metric_text(const Json& metric) {
  const Json& value = metric["value"];
  const auto unit = metric["unit"].get<std::string>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return "";
  const auto number = value.get<double>();
  if ((unit == "B" || unit == "bytes") && std::abs(number) < 9e18) return format_bytes(std::llround(number));
  return fmt::format("{:.4g}", number) + (unit.empty() ? "" : " " + unit);
}

TextTable results_table(const Json& results, Settings shown) {
  const std::vector<CaseRuns> cases = grouped(results);
  TableBuilder builder(cases.size());
  if (cases.empty()) return builder.table();
  const bool all = shown == Settings::kAll;
  add_identity(builder, cases, !all && needs_one_column(cases) ? Settings::kInOneColumn : shown);
  add_times(builder, cases, all);
  for (const std::string& phase : phases_of(cases, all))
    builder.add(phase, true, kPhase,
                [&](std::size_t row) { return case_time(cases[row], phase, case_statistic(cases[row]), false); });
  add_work(builder, cases);
  if (all || !all_ok(results))
    builder.add("status", false, kVerdict, [&](std::size_t row) { return status_text(cases[row]); });
  if (all || common_verification(results).empty())
    builder.add("verification", false, kVerdict,
                [&](std::size_t row) { return verification_text(cases[row].first()); });
  add_metrics(builder, cases, all);
  return builder.table();
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

TextTable checks_table(const Json& results) {
  TextTable table{{"run", "workload", "rank", "compared", "outcome", "error", "tolerance", "reference", "detail"},
                  {true, false, true, false, false, true, true},
                  {},
                  {0, 2, 1, 0, 0, 0, 0, 3, 0}};
  const auto number = [](const Json& value) {
    return value.is_null() ? std::string() : fmt::format("{:.3g}", value.get<double>());
  };
  for (const Json& result : results) {
    for (const Json& check : result["checks"]) {
      table.rows.push_back({result["run_id"].dump(), text_at(result, "workload"), check["rank"].dump(),
                            text_at(check, "name"), text_at(check, "outcome"), number(check["max_abs_error"]),
                            number(check["tolerance"]), text_at(check, "reference"), text_at(check, "detail")});
    }
  }
  return table;
}

std::string result_line(const Json& result) {
  std::string line = "run " + result["run_id"].dump() + ": " + text_at(result, "workload");
  for (const auto& [name, value] : result["parameters"].items()) line += " " + name + "=" + value_text(value);
  line += ": " + text_at(result, "status");
  if (result["phases"].contains("step")) line += ", " + named_time_text(result["phases"]["step"]);
  if (const auto detail = text_at(result, "detail"); !detail.empty()) line += " (" + detail + ")";
  return visible(line);
}

}  // namespace kymo::cli

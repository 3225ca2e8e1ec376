// SPDX-License-Identifier: Apache-2.0
#include "terminal/against.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "measure/comparison.hpp"
#include "terminal/results_table.hpp"
#include "terminal/run_results.hpp"
#include "terminal/step_times.hpp"
#include "terminal/verdict.hpp"

namespace kymo::terminal {
using plan::Pair;
namespace {

constexpr double kGiga = 1e9;
constexpr std::array<const char*, 2> kBandwidths{"algbw_gb_s", "busbw_gb_s"};

/// The runs of one plan key.
struct Side {
  Json row;
  SideTimes times;
  DeclaredWork declared;
  Json message = Json::object();  // bytes of a collective by the name of their bandwidth
};

Side side_of(const Json& results, const WorkByRun& work, const std::string& plan_key) {
  Side side;
  Json& row = side.row;
  row = {{"workload", nullptr}, {"parameters", Json::object()}, {"ranks", nullptr}, {"clock", nullptr},
         {"sentence", nullptr}, {"other_sentence", ""},         {"warning", ""},    {"family", ""}};
  put_time_comparison(row, std::nullopt);
  for (const Json& result : results) {
    if (result["plan_key"] != plan_key) continue;
    row["workload"] = result["workload"];
    row["family"] = result["family"];
    row["parameters"] = result["parameters"];
    row["ranks"] = result["ranks"];
    if (result["status"] != "ok" || !result["phases"].contains("step")) continue;
    const Json& step = result["phases"]["step"];
    if (!side.times.add(step)) continue;
    row["clock"] = step["clock"];
    if (const auto position = work.find(integer_at(result, "run_id")); position != work.end())
      side.declared = position->second;
    for (const char* name : kBandwidths)
      if (step.contains(name)) side.message[name] = real_at(step, name) * real_at(step, "median_ns");  // GB/s × ns
  }
  row["runs"] = side.times.runs();
  return side;
}

/// Adds the times by the statistic that both sides share, and the rates of the declared work.
void add_times(Side& side, StepStatistic statistic) {
  Json& row = side.row;
  row["statistic"] = measure::to_string(statistic);
  put_times(row, side.times, statistic);
  row["times_ns"] = side.times.values_ns(statistic);
  for (const char* name : {"flops_per_s", "bytes_per_s", "algbw_gb_s", "busbw_gb_s"}) row[name] = nullptr;
  const auto time_ns = side.times.time_ns(statistic);
  if (!time_ns) return;
  if (side.declared.flops > 0) row["flops_per_s"] = side.declared.flops / (*time_ns / kNsPerS);
  if (side.declared.bytes > 0) row["bytes_per_s"] = side.declared.bytes / (*time_ns / kNsPerS);
  for (const auto& [name, bytes] : side.message.items()) row[name] = bytes.get<double>() / *time_ns;
}

/// What distinguishes the two sides of a pair.
std::string name_of(const Json& row, const Json& other) {
  const std::string differing = measure::differing({settings_of(row), settings_of(other)})[0];
  const auto workload = row["workload"].get<std::string>();
  return row["workload"] == other["workload"] && !differing.empty() ? workload + ":" + differing : workload;
}

/// "size=small, context=128": the parameters that only the first side has.
std::string own_parameters(const Json& row, const Json& other) {
  std::vector<std::string> own;
  for (const auto& [name, value] : row["parameters"].items())
    if (!other["parameters"].contains(name)) own.push_back(name + "=" + value_text(value));
  return own.empty() ? "" : "only " + text_at(row, "workload") + " has " + join(own, ", ");
}

/// Adds the interval and the verdict of compare() to the second side.
void compare_sides(const Side& first, Side& second) {
  second.row["warning"] = unlike_work(first.row, first.declared, second.row, second.declared);
  const TimeComparison compared = compare_times(first.times, second.times, measure::kDefaultMargin);
  put_time_comparison(second.row, compared);
  const std::string name = name_of(first.row, second.row);
  const std::string other = name_of(second.row, first.row);
  second.row["sentence"] = verdict_sentence(name, other, compared.found, measure::kDefaultMargin, compared.statistic);
  second.row["other_sentence"] = other_sentence(name, other, compared, measure::kDefaultMargin);
}

}  // namespace

WorkByRun declared_work(const store::ResultsDatabase& database, std::int64_t invocation_id) {
  const auto table = database.query(
      "SELECT run_id, coalesce(flops, 0.0), coalesce(bytes, 0.0) FROM throughput WHERE phase = 'step' AND run_id IN "
      "(SELECT run_id FROM run WHERE invocation_id = " +
      std::to_string(invocation_id) + ")");
  WorkByRun work;
  for (const auto& row : table.rows) work[row.at(0).integer] = {row.at(1).real, row.at(2).real};
  return work;
}

Json against_rows(const Json& results, const WorkByRun& work, const std::vector<Pair>& pairs) {
  Json rows = Json::array();
  for (const Pair& pair : pairs) {
    Side first = side_of(results, work, pair.of_case);
    Side second = side_of(results, work, pair.of_peer);
    const StepStatistic statistic = measure::common_statistic({first.times.statistics(), second.times.statistics()});
    add_times(first, statistic);
    add_times(second, statistic);
    if (first.times.runs() > 0) {
      first.row["ratio"] = 1.0;
      if (second.times.runs() > 0 && first.row["clock"] == second.row["clock"]) compare_sides(first, second);
    }
    rows.push_back(std::move(first.row));
    rows.push_back(std::move(second.row));
  }
  return rows;
}

report::Document against_document(Json rows) {
  const Json lines = against_sentences(rows);
  std::vector<WorkloadSettings> sides;
  for (const Json& row : rows) sides.push_back(settings_of(row));
  const std::vector<std::string> settings = measure::differing(sides);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i]["settings"] = settings[i];
  return report::Output("against", {{"rows", dump_json(rows)}, {"lines", dump_json(lines)}}).document();
}

std::string unlike_work(const Json& first, const DeclaredWork& of_first, const Json& second,
                        const DeclaredWork& of_second) {
  if (first["workload"] == second["workload"]) return "";
  const std::string both = text_at(first, "workload") + " and " + text_at(second, "workload");
  if (of_first.flops > 0 && of_second.flops > 0) {
    if (!measure::disagree(of_first.flops, of_second.flops)) return "";
    return fmt::format("{} do not do the same work: {:.4g} and {:.4g} GFLOP per step", both, of_first.flops / kGiga,
                       of_second.flops / kGiga);
  }
  if (!text_at(first, "family").empty() && first["family"] == second["family"]) return "";
  std::vector<std::string> own{own_parameters(first, second), own_parameters(second, first)};
  std::erase(own, "");
  return own.empty() ? "" : "nothing shows that " + both + " do the same work: " + join(own, "; ");
}

std::vector<std::string> against_sentences(const Json& rows) {
  std::vector<WorkloadSettings> cases;
  for (std::size_t i = 0; i < rows.size(); i += 2) cases.push_back(settings_of(rows[i]));
  const std::vector<std::string> titles = measure::differing(cases);
  std::vector<std::string> sentences, warnings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    if (row["sentence"].is_null()) continue;
    const auto runs = row["runs"].get<std::int64_t>();
    const std::string& title = titles[i / 2];
    std::string sentence = visible((title.empty() ? "" : title + ": ") + row["sentence"].get<std::string>()) + ", " +
                           std::to_string(runs) + (runs == 1 ? " run" : " runs");
    if (row["verdict"] == "AMBIGUOUS")
      sentence += runs < measure::kRunsForVerdict ? "; a verdict needs " + std::to_string(measure::kRunsForVerdict) +
                                                        " runs of each: --repeat, --fresh or 'kymo ab'"
                  : row["more_runs"].is_null() ? ""
                                               : "; about " + row["more_runs"].dump() + " more runs are needed";
    sentences.push_back(sentence);
    if (const std::string other = text_at(row, "other_sentence"); !other.empty()) sentences.push_back(visible(other));
    if (const std::string warning = text_at(row, "warning"); !warning.empty() && !contains(warnings, warning))
      warnings.push_back(warning);
  }
  for (const std::string& warning : warnings) sentences.push_back("warning: " + visible(warning));
  return sentences;
}

}  // namespace kymo::terminal

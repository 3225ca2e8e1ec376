// SPDX-License-Identifier: Apache-2.0
#include "store/executions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/records.hpp"

namespace kymo::store {
namespace {

/// How often a step entered each phase.
using Calls = std::map<std::string, std::int64_t>;

/// The measured steps of one pass of one rank.
using Steps = std::vector<Calls>;

/// By rank and pass, in the order of their execution.
std::map<std::int64_t, std::vector<std::pair<std::string, Steps>>> steps_of(const Connection& results,
                                                                            std::int64_t run_id) {
  std::map<std::int64_t, std::vector<std::pair<std::string, Steps>>> ranks;
  Statement samples(results,
                    "SELECT rank, pass, step, phase, calls FROM main.sample WHERE run_id = ? AND warmup = 0 ORDER BY "
                    "rank, CASE pass WHEN 'time' THEN 0 WHEN 'memory' THEN 1 WHEN 'trace' THEN 2 ELSE 3 END, step");
  samples.bind(1, run_id);
  std::int64_t step = -1;
  while (samples.step()) {
    auto& passes = ranks[samples.integer(0)];
    const std::string pass = samples.text(1);
    const bool is_new = passes.empty() || passes.back().first != pass;
    if (is_new) passes.push_back({pass, {}});
    Steps& steps = passes.back().second;
    if (is_new || samples.integer(2) != step) steps.emplace_back();
    step = samples.integer(2);
    const std::string phase = samples.text(3);
    if (phase != event::kWholeStep && phase != event::kOtherPhase) steps.back()[phase] = samples.integer(4);
  }
  return ranks;
}

std::string text_of(const Calls& calls) {
  std::string text;
  for (const auto& [phase, count] : calls) text += (text.empty() ? "" : ", ") + phase + " " + std::to_string(count);
  return text.empty() ? "no phase" : text;
}

/// What distinguishes two passes; empty if they did the same. The time pass may have measured more steps than the
/// passes that record events.
std::string difference(const std::string& first, const Steps& before, const std::string& second, const Steps& after) {
  const std::size_t common = std::min(before.size(), after.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (before[i] == after[i]) continue;
    return "in measured step " + std::to_string(i + 1) + ", pass " + first + " entered " + text_of(before[i]) +
           "; pass " + second + " entered " + text_of(after[i]);
  }
  const bool may_have_more = first == "time" && before.size() > after.size();
  if (before.size() == after.size() || may_have_more) return "";
  return "pass " + first + " measured " + std::to_string(before.size()) + " steps, pass " + second + " " +
         std::to_string(after.size());
}

void add_warning(const Connection& results, std::int64_t run_id, std::int64_t rank, const std::string& pass,
                 const std::string& detail) {
  Statement(results, insert_next_sql("warning", "run_id, rank, pass", "kind, detail"))
      .bind_all(run_id, rank, pass, kDifferentExecutions, detail)
      .run();
}

}  // namespace

bool compare_executions(const Connection& results, std::int64_t run_id) {
  Statement run(results, "SELECT 1 FROM main.run WHERE run_id = ? AND timing = 'free'");
  if (!run.bind(1, run_id).step()) return true;
  bool same = true;
  const auto ranks = steps_of(results, run_id);
  for (const auto& [rank, passes] : ranks) {
    for (std::size_t i = 1; i < passes.size(); ++i) {
      const std::string found = difference(passes[0].first, passes[0].second, passes[i].first, passes[i].second);
      if (found.empty()) continue;
      same = false;
      add_warning(results, run_id, rank, passes[i].first,
                  (ranks.size() > 1 ? "rank " + std::to_string(rank) + ": " : "") + found);
    }
  }
  return same;
}

}  // namespace kymo::store

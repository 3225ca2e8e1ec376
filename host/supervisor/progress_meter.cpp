// SPDX-License-Identifier: Apache-2.0
#include "supervisor/progress_meter.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kymo::supervisor {
namespace {

constexpr double kPause_s = 0.1;
constexpr double kMinFraction = 0.05;  ///< minimum completed fraction of the first run for a time estimate

std::map<std::string, std::string> traits(const PlannedRun& run) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : run.what.parameters) result[name] = measure::to_text(value);
  result["ranks"] = std::to_string(run.what.ranks);
  result["device"] = measure::to_string(run.what.device);
  result["warmup"] = std::to_string(run.method.warmup);
  return result;
}

}  // namespace

std::vector<std::string> run_titles(const std::vector<PlannedRun>& runs) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;  // workload → trait → what occurs
  for (const auto& run : runs)
    for (const auto& [name, value] : traits(run)) values[run.what.workload][name].insert(value);
  std::vector<std::string> titles;
  for (const auto& run : runs) {
    std::string title = run.what.workload;
    for (const auto& [name, value] : traits(run))
      if (values[run.what.workload][name].size() > 1) title += " " + name + "=" + value;
    if (run.repetition > 0) title += " #" + std::to_string(run.repetition + 1);
    titles.push_back(std::move(title));
  }
  return titles;
}

ProgressMeter::ProgressMeter(const std::vector<PlannedRun>& runs, std::function<void(const ProgressView&)> show)
    : show_(std::move(show)), titles_(run_titles(runs)) {
  view_.run_count = runs.size();
}

void ProgressMeter::begin_run(std::size_t index, double now_s) {
  view_.run_index = index;
  view_.title = titles_.at(index);
  run_start_s_ = now_s;
  begin_pass(0, 1);
  update({"start", -1, 0}, now_s);
}

void ProgressMeter::begin_pass(std::size_t index, std::size_t count) {
  pass_ = index;
  passes_ = std::max<std::size_t>(count, 1);
  view_.step = -1;
  view_.steps = 0;
}

void ProgressMeter::update(const measure::protocol::Progress& progress, double now_s) {
  view_.stage = progress.stage;
  view_.step = progress.step;
  view_.steps = progress.steps;
  stale_ = true;
  tick(now_s);
}

void ProgressMeter::end_run(double now_s) {
  finished_s_ += now_s - run_start_s_;
  ++finished_;
}

void ProgressMeter::tick(double now_s) {
  if (!show_ || !stale_ || now_s - shown_s_ < kPause_s) return;
  shown_s_ = now_s;
  stale_ = false;
  view_.seconds_left = seconds_left(now_s);
  show_(view_);
}

double ProgressMeter::run_fraction() const {
  const double step = view_.steps > 0 && view_.step >= 0
                          ? std::min(1.0, static_cast<double>(view_.step) / static_cast<double>(view_.steps))
                          : 0;
  return (static_cast<double>(pass_) + step) / static_cast<double>(passes_);
}

double ProgressMeter::seconds_left(double now_s) const {
  const double spent = now_s - run_start_s_;
  const double fraction = run_fraction();
  const auto runs_after = static_cast<double>(view_.run_count - view_.run_index - 1);
  if (finished_ > 0) {
    const double usual = finished_s_ / static_cast<double>(finished_);
    const double here = fraction > kMinFraction ? spent / fraction - spent : std::max(0.0, usual - spent);
    return here + runs_after * usual;
  }
  if (fraction <= kMinFraction) return -1;
  return spent / fraction - spent + runs_after * spent / fraction;
}

}  // namespace kymo::supervisor

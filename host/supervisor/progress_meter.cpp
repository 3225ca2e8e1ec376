// SPDX-License-Identifier: Apache-2.0
#include "supervisor/progress_meter.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kymo::supervisor {
namespace {

constexpr double kPause_s = 0.1;
constexpr double kMinFraction = 0.05;  ///< minimum completed fraction of the first run for a time estimate

}  // namespace

std::vector<std::string> run_titles(const std::vector<PlannedRun>& runs) {
  std::vector<measure::WorkloadSettings> settings;
  for (const auto& run : runs) {
    auto& values = settings.emplace_back(measure::WorkloadSettings{run.what.workload, {}}).settings;
    for (const auto& [name, value] : run.what.parameters) values[name] = measure::to_text(value);
    values["--ranks"] = std::to_string(run.what.ranks);
    values["--device"] = measure::to_string(run.what.device);
    values["--warmup"] = std::to_string(run.method.warmup);
  }
  std::vector<std::string> titles = measure::differing(settings);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    titles[i] = trim(runs[i].what.workload + " " + titles[i]);
    if (runs[i].repetition > 0) titles[i] += " #" + std::to_string(runs[i].repetition + 1);
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

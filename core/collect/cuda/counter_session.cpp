// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/counter_session.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "collect/collector.hpp"
#include "collect/cuda/activity_names.hpp"

namespace kymo::collect {
namespace {

constexpr const char* kSource = "hardware counters";
constexpr std::size_t kFirstCapacity = 64;  // ranges of a portion, about 7 MB
constexpr std::size_t kManyCapacity = 512;  // without a warm-up step, from which the number is known
constexpr std::size_t kMaxCapacity = 2048;  // about 320 MB
constexpr std::size_t kMaxKernels = 8192;   // of a step, about 1.3 GB
constexpr const char* kGraphs =
    "kernels of CUDA graphs, which the steps launch, cannot be counted apart; use --counter-ranges phase";
/// The first steps are portions of their own, so that each set is counted in some of few steps.
constexpr std::int64_t kStepsPerLongerPortion = 16;

std::optional<std::size_t> index_of(std::string_view name) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return index;
}

}  // namespace

CounterSession::CounterSession(const ProfilerApi& api, Setting setting)
    : api_(api),
      setting_(std::move(setting)),
      profiler_(api_, setting_.context),
      capacity_(setting_.ranges != measure::CounterRanges::kPhase && setting_.warmup == 0 ? kManyCapacity
                                                                                          : kFirstCapacity) {
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params, initialize);
  require_counters(api_.initialize(&initialize), "initialization");
  KYMO_CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = static_cast<std::size_t>(setting_.device_index);
  require_counters(api_.chip_name(&chip), "naming the chip");
  chip_ = or_empty(chip.pChipName);
  // Everything up to here succeeds without permission.
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, availability);
  availability.ctx = setting_.context;
  require_counters(api_.availability(&availability), "asking for available counters");
  std::vector<std::uint8_t> image(availability.counterAvailabilityImageSize);
  availability.pCounterAvailabilityImage = image.data();
  require_counters(api_.availability(&availability), "asking for available counters");
  planned_ = plan_counters(api_, chip_);
  for (const auto& metrics : planned_) sets_.push_back(std::make_unique<CounterSet>(api_, chip_, metrics));
  read_before();
}

CounterSession::~CounterSession() {
  profiler_.disable();
  sets_.clear();
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_DeInitialize_Params, end);
  api_.deinitialize(&end);
}

/// Nothing is counted from now on, but the workload goes on.
void CounterSession::fail(CUptiResult result, const char* what) {
  if (failure_.empty()) failure_ = counter_problem(result, what);
  for (const std::size_t counted : open_) counted_[counted].is_complete = false;
  open_.clear();
  launching_ = -1;
}

void CounterSession::start() {
  counted_.clear();
  ranges_.clear();
  portion_steps_ = 0;
  try {
    profiler_.start(*sets_[set_], capacity_,
                    by_kernel() ? RangeProfiler::Ranges::kOfKernels : RangeProfiler::Ranges::kOfCaller);
    is_counting_ = true;
  } catch (const Unavailable& reason) {
    if (failure_.empty()) failure_ = reason.what();
    profiler_.disable();
  }
}

/// Its ranges follow from now on, until leave().
std::optional<std::size_t> CounterSession::enter(std::int32_t phase, event::TextId scope) {
  step_wanted_ranges_ += step_wanted_ranges_ == 0 ? 1 : 2;  // one also for the rest of what is around it
  if (!is_counting_ || !failure_.empty() || is_blocked_) return std::nullopt;
  if (!by_kernel() && ranges_.size() + open_.size() >= capacity_) {
    ++beyond_capacity_;
    return std::nullopt;
  }
  if (!open_.empty() && !end_range()) return std::nullopt;
  Counted counted{.step = step_, .phase = phase, .scope = scope};
  if (!open_.empty()) counted.parent = open_.back();
  open_.push_back(counted_.size());
  counted_.push_back(std::move(counted));
  if (!begin_range()) return std::nullopt;
  return open_.back();
}

/// What it contains and has not ended ends too, and is incomplete.
void CounterSession::leave(std::size_t counted) {
  const auto found = std::ranges::find(open_, counted);
  if (is_blocked_ || found == open_.end()) return;
  for (auto inner = found + 1; inner != open_.end(); ++inner) counted_[*inner].is_complete = false;
  if (!end_range()) return;
  open_.erase(found, open_.end());
  if (!open_.empty()) begin_range();
}

void CounterSession::leave_all() {
  is_blocked_ = false;
  if (!open_.empty()) leave(open_.front());
}

bool CounterSession::begin_range() {
  if (by_kernel()) {
    launching_ = static_cast<std::ptrdiff_t>(open_.back());
    return true;
  }
  const CUptiResult result = profiler_.push(std::to_string(ranges_.size()).c_str());
  if (result == CUPTI_SUCCESS)
    ranges_.push_back(open_.back());
  else
    fail(result, "beginning a range");
  return result == CUPTI_SUCCESS;
}

bool CounterSession::end_range() {
  if (by_kernel()) {
    launching_ = -1;
    return true;
  }
  const CUptiResult result = profiler_.pop();
  if (result != CUPTI_SUCCESS) fail(result, "ending a range");
  return result == CUPTI_SUCCESS;
}

void CounterSession::kernel_launched(const char* symbol) {
  const std::lock_guard lock(launches_mutex_);
  ++step_launches_;
  if (const std::ptrdiff_t counted = launching_; counted >= 0)
    launches_.push_back({static_cast<std::size_t>(counted), or_empty(symbol)});
}

void CounterSession::step_begin(std::int64_t step) {
  thread_ = std::this_thread::get_id();
  step_ = step;
  phase_ = -1;
  is_blocked_ = false;
  scopes_.clear();
  if (by_kernel()) {
    const std::lock_guard lock(launches_mutex_);
    launches_.clear();
    step_launches_ = 0;
  }
  if (uses_graphs_ && failure_.empty()) failure_ = kGraphs;
  if (!is_counting_ && failure_.empty() && step >= setting_.warmup) start();
  step_first_ = counted_.size();
  step_wanted_ranges_ = 0;
  enter(-1, event::kNoText);
}

void CounterSession::phase_begin(std::int32_t phase, bool is_captured) {
  phase_ = phase;
  phase_runs_ = !is_captured;
  if (by_kernel() && is_captured) uses_graphs_ = true;
  if (phase_runs_) phase_counted_ = enter(phase, event::kNoText);
}

void CounterSession::phase_end(bool is_captured) {
  if (phase_counted_ && is_captured) {
    // The end of a range would wait for the device, which a capture forbids: it ends with the step.
    for (std::size_t i = 1; i < open_.size(); ++i) counted_[open_[i]].is_complete = false;
    is_blocked_ = true;
  } else if (phase_counted_) {
    leave(*phase_counted_);
  }
  phase_counted_.reset();
  phase_runs_ = false;
  phase_ = -1;
}

void CounterSession::scope_begin(const char* name) {
  if (std::this_thread::get_id() != thread_) return;
  OpenScope scope;
  if (!scopes_.empty()) scope.path = scopes_.back().path;
  scope.path = scope.path == event::kNoText ? texts_.intern(name) : texts_.intern(texts_.text(scope.path) + "/" + name);
  // Outside of phases it is not known whether work is captured into a graph.
  if (phase_runs_) scope.counted = enter(phase_, scope.path);
  scopes_.push_back(scope);
}

void CounterSession::scope_end() {
  if (std::this_thread::get_id() != thread_ || scopes_.empty()) return;
  const OpenScope scope = scopes_.back();
  scopes_.pop_back();
  if (scope.counted) leave(*scope.counted);
}

void CounterSession::step_end() {
  if (step_ < 0) return;
  leave_all();
  scopes_.clear();
  phase_counted_.reset();
  const std::int64_t step = std::exchange(step_, -1);
  const std::size_t wanted = by_kernel() ? step_launches_.load() : step_wanted_ranges_;
  if (!is_counting_) {
    // The last uncounted step leaves the GPU as busy as the counted ones do.
    if (step < setting_.warmup) read_before();
    return grow(wanted);
  }
  if (setting_.read_clocks) clocks_.during(setting_.read_clocks());
  ++steps_counted_;
  ++portion_steps_;
  if (uses_graphs_ && failure_.empty()) failure_ = kGraphs;
  const std::int64_t longest = by_kernel() ? 1 : 1 + steps_counted_ / kStepsPerLongerPortion;
  if (!failure_.empty() || portion_steps_ >= longest || ranges_.size() + wanted > capacity_) {
    finish();
    set_ = (set_ + 1) % sets_.size();
    grow(wanted);
  }
  if (const std::string difference = clocks_.difference(); !difference.empty()) throw std::runtime_error(difference);
}

void CounterSession::read_before() {
  if (setting_.read_clocks) clocks_.before(setting_.read_clocks());
}

void CounterSession::grow(std::size_t last_step_ranges) {
  const std::size_t most = by_kernel() ? kMaxKernels : kMaxCapacity;
  while (capacity_ < last_step_ranges && capacity_ < most) capacity_ *= 2;
}

/// Ends a portion and reads its counts.
void CounterSession::finish() {
  if (!is_counting_) return;
  is_counting_ = false;
  try {
    const std::size_t ranges = profiler_.stop();
    by_kernel() ? read_kernels(ranges) : read(ranges);
    for (const Counted& counted : counted_)
      if (counted.is_complete) add(counted);
  } catch (const Unavailable& reason) {
    if (failure_.empty()) failure_ = reason.what();
  }
  profiler_.disable();
}

/// Adds the values of a range to what it belongs to.
void CounterSession::add_to(std::size_t counted, const std::vector<double>& values) {
  for (std::optional<std::size_t> at = counted; at; at = counted_[*at].parent) {
    std::vector<double>& sums = counted_[*at].values;
    sums.resize(values.size());
    std::ranges::transform(sums, values, sums.begin(), std::plus<>());
  }
}

void CounterSession::read(std::size_t ranges) {
  all_ranges_ += static_cast<std::int64_t>(ranges_.size());
  std::vector<bool> is_read(ranges_.size());
  for (std::size_t i = 0; i < ranges; ++i) {
    const auto index = index_of(profiler_.name(i));
    if (!index || *index >= ranges_.size() || is_read[*index]) continue;
    is_read[*index] = true;
    add_to(ranges_[*index], profiler_.values(i));
  }
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (is_read[i]) continue;
    ++unread_;
    for (std::optional<std::size_t> at = ranges_[i]; at; at = counted_[*at].parent) counted_[*at].is_complete = false;
  }
}

/// The ranges of CUPTI and the launches of the step are in the same order.
void CounterSession::read_kernels(std::size_t ranges) {
  const std::lock_guard lock(launches_mutex_);
  const std::vector<Launch> launches = std::exchange(launches_, {});
  if (ranges != launches.size() || uses_graphs_) {
    if (!uses_graphs_ && unmatched_steps_++ == 0)
      unmatched_ = "steps not counted by kernel, because CUPTI counted " + std::to_string(ranges) + " kernels of " +
                   std::to_string(launches.size()) + " that were launched in step " +
                   std::to_string(counted_.empty() ? -1 : counted_.front().step);
    for (Counted& counted : counted_) counted.is_complete = false;
    return;
  }
  std::vector<LaunchedKernel> kernels;
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& [counted, symbol] = launches[i];
    kernels.push_back({readable_kernel_name(symbol.c_str()), counted_[counted].phase});
    values.push_back(profiler_.values(i));
    add_to(counted, values.back());
  }
  // The first that a portion counts is the step, of which it has one.
  if (!counted_.empty() && counted_.front().is_complete)
    kernels_.add(counted_.front().step, std::move(kernels), planned_[set_], values);
}

void CounterSession::add(const Counted& counted) {
  for (std::size_t i = 0; i < counted.values.size(); ++i) {
    if (!std::isfinite(counted.values[i])) {
      ++invalid_;
      continue;
    }
    const event::TextId name = texts_.intern(planned_[set_][i]);
    const auto [found, is_new] =
        positions_.try_emplace({counted.step, counted.phase, counted.scope, name}, counts_.size());
    if (is_new) counts_.push_back({.step = counted.step, .phase = counted.phase, .scope = counted.scope, .name = name});
    event::HardwareCount& count = counts_[found->second];
    ++count.calls;
    count.value += counted.values[i];
  }
}

void CounterSession::stop(event::PassRecord& record) {
  if (step_ >= 0) {  // the step did not end
    for (std::size_t i = step_first_; i < counted_.size(); ++i) counted_[i].is_complete = false;
    leave_all();
  }
  finish();
  event::Texts& texts = record.trace.texts;
  for (event::HardwareCount count : std::exchange(counts_, {})) {
    count.scope = texts.intern(texts_.text(count.scope));
    count.name = texts.intern(texts_.text(count.name));
    record.hardware_counts.push_back(count);
  }
  kernels_.take(record, kSource);
  if (!failure_.empty()) record.dropped_records.push_back({kSource, -1, failure_});
  add_dropped(record.dropped_records, kSource, beyond_capacity_,
              "phases and scopes beyond the ranges of a portion, not counted apart");
  add_dropped(record.dropped_records, kSource, unread_,
              "ranges that CUPTI did not report, of " + std::to_string(all_ranges_));
  add_dropped(record.dropped_records, kSource, unmatched_steps_, unmatched_);
  add_dropped(record.dropped_records, kSource, invalid_, "counts that are no number");
  if (setting_.read_clocks) clocks_.after(setting_.read_clocks());
  if (const std::string difference = clocks_.difference(); !difference.empty())
    record.dropped_records.push_back({kSource, -1, difference});
}

}  // namespace kymo::collect

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

namespace kymo::collect {
namespace {

constexpr const char* kSource = "hardware counters";
constexpr std::size_t kFirstCapacity = 64;   // ranges of a portion, about 7 MB
constexpr std::size_t kScopeCapacity = 512;  // without a warm-up step, from which the number is known
constexpr std::size_t kMaxCapacity = 2048;   // about 320 MB
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
    : api_(api), setting_(std::move(setting)), capacity_(kFirstCapacity) {
  if (setting_.by_scope && setting_.warmup == 0) capacity_ = kScopeCapacity;
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
  disable();
  sets_.clear();
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_DeInitialize_Params, end);
  api_.deinitialize(&end);
}

/// Nothing is counted from now on, but the workload goes on.
void CounterSession::fail(CUptiResult result, const char* what) {
  if (failure_.empty()) failure_ = counter_problem(result, what);
  for (const std::size_t counted : open_) counted_[counted].is_complete = false;
  open_.clear();
}

void CounterSession::start() {
  counted_.clear();
  ranges_.clear();
  portion_steps_ = 0;
  try {
    configure();
    is_counting_ = true;
  } catch (const Unavailable& reason) {
    if (failure_.empty()) failure_ = reason.what();
    disable();
  }
}

void CounterSession::configure() {
  CounterSet& set = *sets_[set_];
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params, enable);
  enable.ctx = setting_.context;
  require_counters(api_.enable(&enable), "enabling");
  profiler_ = enable.pRangeProfilerObject;

  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = profiler_;
  std::vector<const char*> names = set.metrics();
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = capacity_;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(capacity_);
  require_counters(api_.data_size(&size), "sizing the data");
  data_.assign(size.counterDataSize, 0);
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data);
  data.pRangeProfilerObject = profiler_;
  data.pCounterData = data_.data();
  data.counterDataSize = data_.size();
  require_counters(api_.initialize_data(&data), "initializing the data");

  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = profiler_;
  config.configSize = set.image().size();
  config.pConfig = set.image().data();
  config.counterDataImageSize = data_.size();
  config.pCounterDataImage = data_.data();
  // The ranges are those of the workload, and nothing is replayed: all metrics of a set fit into one pass.
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = capacity_;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  require_counters(api_.set_config(&config), "configuring");
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params, begin);
  begin.pRangeProfilerObject = profiler_;
  require_counters(api_.start(&begin), "starting");
}

/// Its ranges follow from now on, until leave().
std::optional<std::size_t> CounterSession::enter(std::int32_t phase, event::TextId scope) {
  step_wanted_ranges_ += step_wanted_ranges_ == 0 ? 1 : 2;  // one also for the rest of what is around it
  if (!is_counting_ || !failure_.empty() || is_blocked_) return std::nullopt;
  if (ranges_.size() + open_.size() >= capacity_) {
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
  const std::string name = std::to_string(ranges_.size());
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_PushRange_Params, range);
  range.pRangeProfilerObject = profiler_;
  range.pRangeName = name.c_str();
  const CUptiResult result = api_.push(&range);
  if (result == CUPTI_SUCCESS)
    ranges_.push_back(open_.back());
  else
    fail(result, "beginning a range");
  return result == CUPTI_SUCCESS;
}

bool CounterSession::end_range() {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_PopRange_Params, range);
  range.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_.pop(&range);
  if (result != CUPTI_SUCCESS) fail(result, "ending a range");
  return result == CUPTI_SUCCESS;
}

void CounterSession::step_begin(std::int64_t step) {
  thread_ = std::this_thread::get_id();
  step_ = step;
  phase_ = -1;
  is_blocked_ = false;
  scopes_.clear();
  if (!is_counting_ && failure_.empty() && step >= setting_.warmup) start();
  step_first_ = counted_.size();
  step_wanted_ranges_ = 0;
  enter(-1, event::kNoText);
}

void CounterSession::phase_begin(std::int32_t phase, bool is_captured) {
  phase_ = phase;
  phase_runs_ = !is_captured;
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
  const std::size_t wanted = step_wanted_ranges_;
  if (!is_counting_) {
    // The last uncounted step leaves the GPU as busy as the counted ones do.
    if (step < setting_.warmup) read_before();
    return grow(wanted);
  }
  if (setting_.read_clocks) clocks_.during(setting_.read_clocks());
  ++steps_counted_;
  ++portion_steps_;
  const std::int64_t longest = 1 + steps_counted_ / kStepsPerLongerPortion;
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
  while (capacity_ < last_step_ranges && capacity_ < kMaxCapacity) capacity_ *= 2;
}

/// Ends a portion and reads its counts.
void CounterSession::finish() {
  if (!is_counting_) return;
  is_counting_ = false;
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = profiler_;
  try {
    require_counters(api_.stop(&stop), "stopping");
    read();
  } catch (const Unavailable& reason) {
    if (failure_.empty()) failure_ = reason.what();
  }
  disable();
}

void CounterSession::read() {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = profiler_;
  require_counters(api_.decode(&decode), "reading the counters");
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  require_counters(api_.data_info(&info), "counting the ranges");
  all_ranges_ += static_cast<std::int64_t>(ranges_.size());
  std::vector<bool> is_read(ranges_.size());
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, range);
    range.pCounterDataImage = data_.data();
    range.counterDataImageSize = data_.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    require_counters(api_.range_info(&range), "naming a range");
    const auto index = index_of(or_empty(range.rangeName));
    if (!index || *index >= ranges_.size() || is_read[*index]) continue;
    is_read[*index] = true;
    const std::vector<double>& values = sets_[set_]->evaluate(data_, i);
    for (std::optional<std::size_t> at = ranges_[*index]; at; at = counted_[*at].parent) {
      std::vector<double>& sums = counted_[*at].values;
      sums.resize(values.size());
      std::ranges::transform(sums, values, sums.begin(), std::plus<>());
    }
  }
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (is_read[i]) continue;
    ++unread_;
    for (std::optional<std::size_t> at = ranges_[i]; at; at = counted_[*at].parent) counted_[*at].is_complete = false;
  }
  for (const Counted& counted : counted_)
    if (counted.is_complete) add(counted);
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

void CounterSession::disable() {
  if (!profiler_) return;
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, end);
  end.pRangeProfilerObject = profiler_;
  api_.disable(&end);
  profiler_ = nullptr;
  is_counting_ = false;
  data_.clear();
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
  if (!failure_.empty()) record.dropped_records.push_back({kSource, -1, failure_});
  add_dropped(record.dropped_records, kSource, beyond_capacity_,
              "phases and scopes beyond the ranges of a portion, not counted apart");
  add_dropped(record.dropped_records, kSource, unread_,
              "ranges that CUPTI did not report, of " + std::to_string(all_ranges_));
  add_dropped(record.dropped_records, kSource, invalid_, "counts that are no number");
  if (setting_.read_clocks) clocks_.after(setting_.read_clocks());
  if (const std::string difference = clocks_.difference(); !difference.empty())
    record.dropped_records.push_back({kSource, -1, difference});
}

}  // namespace kymo::collect

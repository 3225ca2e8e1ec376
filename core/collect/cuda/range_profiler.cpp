// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/range_profiler.hpp"

#include "base/text.hpp"

namespace kymo::collect {

void RangeProfiler::start(CounterSet& set, std::size_t capacity, Ranges ranges) {
  set_ = &set;
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params, enable);
  enable.ctx = context_;
  require_counters(api_.enable(&enable), "enabling");
  profiler_ = enable.pRangeProfilerObject;
  make_data(capacity);
  configure(capacity, ranges);
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params, begin);
  begin.pRangeProfilerObject = profiler_;
  require_counters(api_.start(&begin), "starting");
}

void RangeProfiler::make_data(std::size_t capacity) {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = profiler_;
  std::vector<const char*> names = set_->metrics();
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = capacity;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(capacity);
  require_counters(api_.data_size(&size), "sizing the data");
  data_.assign(size.counterDataSize, 0);
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data);
  data.pRangeProfilerObject = profiler_;
  data.pCounterData = data_.data();
  data.counterDataSize = data_.size();
  require_counters(api_.initialize_data(&data), "initializing the data");
}

void RangeProfiler::configure(std::size_t capacity, Ranges ranges) {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = profiler_;
  config.configSize = set_->image().size();
  config.pConfig = set_->image().data();
  config.counterDataImageSize = data_.size();
  config.pCounterDataImage = data_.data();
  config.range = ranges == Ranges::kOfKernels ? CUPTI_AutoRange : CUPTI_UserRange;
  // The caller would replay, and does not: all metrics of a set fit into one pass.
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = capacity;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  require_counters(api_.set_config(&config), "configuring");
}

CUptiResult RangeProfiler::push(const char* name) {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_PushRange_Params, range);
  range.pRangeProfilerObject = profiler_;
  range.pRangeName = name;
  return api_.push(&range);
}

CUptiResult RangeProfiler::pop() {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_PopRange_Params, range);
  range.pRangeProfilerObject = profiler_;
  return api_.pop(&range);
}

std::size_t RangeProfiler::stop() {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = profiler_;
  require_counters(api_.stop(&stop), "stopping");
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = profiler_;
  require_counters(api_.decode(&decode), "reading the counters");
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  require_counters(api_.data_info(&info), "counting the ranges");
  return info.numTotalRanges;
}

std::string RangeProfiler::name(std::size_t range) const {
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, info);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  info.rangeIndex = range;
  info.rangeDelimiter = "/";
  require_counters(api_.range_info(&info), "naming a range");
  return or_empty(info.rangeName);
}

void RangeProfiler::disable() {
  if (!profiler_) return;
  KYMO_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, end);
  end.pRangeProfilerObject = profiler_;
  api_.disable(&end);
  profiler_ = nullptr;
  data_.clear();
}

}  // namespace kymo::collect

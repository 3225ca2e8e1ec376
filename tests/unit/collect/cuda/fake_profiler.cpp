// SPDX-License-Identifier: Apache-2.0
#include "unit/collect/cuda/fake_profiler.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "base/text.hpp"

namespace kymo::collect {
namespace {

std::unique_ptr<FakeProfiler> fake;
constexpr std::size_t kNameBytes = 64;

// A host object holds its metrics; the configuration is their names, separated by spaces. The data of a range is its
// name and the values of the configured metrics.
struct Host {
  std::vector<std::string> metrics;
};
Host* host_of(CUpti_Profiler_Host_Object* object) { return reinterpret_cast<Host*>(object); }

CUptiResult outcome(const char* function) {
  const auto found = fake->failing.find(function);
  return found == fake->failing.end() ? CUPTI_SUCCESS : found->second;
}

std::string joined(const std::vector<std::string>& metrics) { return join(metrics, " "); }

std::size_t range_bytes() { return kNameBytes + fake->configured.size() * sizeof(double); }

CUptiResult CUPTIAPI initialize(CUpti_Profiler_Initialize_Params*) {
  fake->is_initialized = true;
  return outcome("initialize");
}
CUptiResult CUPTIAPI deinitialize(CUpti_Profiler_DeInitialize_Params*) {
  fake->is_initialized = false;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI chip_name(CUpti_Device_GetChipName_Params* p) {
  p->pChipName = fake->chip.c_str();
  return outcome("chip_name");
}
CUptiResult CUPTIAPI availability(CUpti_Profiler_GetCounterAvailability_Params* p) {
  if (!p->pCounterAvailabilityImage) p->counterAvailabilityImageSize = 8;
  return outcome("availability");
}
CUptiResult CUPTIAPI host_initialize(CUpti_Profiler_Host_Initialize_Params* p) {
  if (p->pChipName != fake->chip) return CUPTI_ERROR_INVALID_PARAMETER;
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
  return outcome("host_initialize");
}
CUptiResult CUPTIAPI host_deinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
  delete host_of(p->pHostObject);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI add_metrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  for (std::size_t i = 0; i < p->numMetrics; ++i) {
    if (!fake->metrics.contains(p->ppMetricNames[i])) return CUPTI_ERROR_INVALID_PARAMETER;
    host_of(p->pHostObject)->metrics.emplace_back(p->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI config_size(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = joined(host_of(p->pHostObject)->metrics).size();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI config_image(CUpti_Profiler_Host_GetConfigImage_Params* p) {
  const std::string text = joined(host_of(p->pHostObject)->metrics);
  std::memcpy(p->pConfigImage, text.data(), text.size());
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI passes(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  std::set<int> groups;
  for (const auto& metric : split({reinterpret_cast<const char*>(p->pConfigImage), p->configImageSize}, ' '))
    if (const int group = fake->metrics.at(metric); group != 0) groups.insert(group);
  p->numOfPasses = std::max<std::size_t>(groups.size(), 1);
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  const auto& own = host_of(p->pHostObject)->metrics;
  if (own != fake->configured) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::uint8_t* const at =
      static_cast<const std::uint8_t*>(p->pCounterDataImage) + sizeof(std::size_t) + p->rangeIndex * range_bytes();
  std::memcpy(p->pMetricValues, at + kNameBytes, p->numMetrics * sizeof(double));
  return outcome("evaluate");
}
CUptiResult CUPTIAPI enable(CUpti_RangeProfiler_Enable_Params* p) {
  if (!fake->is_initialized || fake->is_enabled) return CUPTI_ERROR_INVALID_OPERATION;
  if (const CUptiResult result = outcome("enable"); result != CUPTI_SUCCESS) return result;
  fake->is_enabled = true;
  p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(fake.get());
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI disable(CUpti_RangeProfiler_Disable_Params*) {
  if (!fake->is_enabled) return CUPTI_ERROR_INVALID_OPERATION;
  fake->is_enabled = fake->is_running = false;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI data_size(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  fake->configured.assign(p->pMetricNames, p->pMetricNames + p->numMetrics);
  p->counterDataSize = sizeof(std::size_t) + p->maxNumOfRanges * range_bytes();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI initialize_data(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* p) {
  std::memset(p->pCounterData, 0, p->counterDataSize);
  fake->closed.clear();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI set_config(CUpti_RangeProfiler_SetConfig_Params* p) {
  fake->capacity = p->maxRangesPerPass;
  fake->levels = p->numNestingLevels;
  fake->counted_level = p->targetNestingLevel;
  fake->is_by_kernel = p->range == CUPTI_AutoRange;
  const bool is_known = p->range == CUPTI_UserRange || fake->is_by_kernel;
  const bool is_single_pass = is_known && p->replayMode == CUPTI_UserReplay && p->passIndex == 0;
  return is_single_pass ? outcome("set_config") : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult CUPTIAPI start(CUpti_RangeProfiler_Start_Params*) {
  if (const CUptiResult result = outcome("start"); result != CUPTI_SUCCESS) return result;
  fake->is_running = true;
  fake->calls.push_back("start " + joined(fake->configured));
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI stop(CUpti_RangeProfiler_Stop_Params* p) {
  if (!fake->is_running || !fake->open.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  fake->is_running = false;
  p->isAllPassSubmitted = 1;
  fake->calls.emplace_back("stop");
  return outcome("stop");
}
CUptiResult CUPTIAPI push(CUpti_RangeProfiler_PushRange_Params* p) {
  if (!fake->is_running || fake->is_by_kernel || fake->open.size() >= fake->levels)
    return CUPTI_ERROR_INVALID_OPERATION;
  if (const CUptiResult result = outcome("push"); result != CUPTI_SUCCESS) return result;
  fake->names.emplace_back(p->pRangeName);
  fake->open.push_back({fake->open.empty() ? p->pRangeName : fake->open.back().name + "/" + p->pRangeName, {}});
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI pop(CUpti_RangeProfiler_PopRange_Params*) {
  if (fake->open.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  if (const CUptiResult result = outcome("pop"); result != CUPTI_SUCCESS) return result;
  // The other levels are counted when the work is replayed.
  if (fake->open.size() == fake->counted_level) fake->closed.push_back(std::move(fake->open.back()));
  fake->open.pop_back();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI decode(CUpti_RangeProfiler_DecodeData_Params* p) {
  const std::size_t fitting = std::min(fake->closed.size(), fake->capacity);
  p->numOfRangeDropped = fake->closed.size() - fitting;
  fake->closed.resize(fitting - std::min(fitting, fake->lost_ranges));
  return outcome("decode");
}
CUptiResult CUPTIAPI data_info(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
  auto* const data = const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(p->pCounterDataImage));
  std::uint8_t* at = data + sizeof(std::size_t);
  for (const FakeProfiler::Range& range : fake->closed) {
    std::memset(at, 0, range_bytes());
    std::memcpy(at, range.name.c_str(), std::min(range.name.size(), kNameBytes - 1));
    for (std::size_t i = 0; i < fake->configured.size(); ++i) {
      const auto found = range.values.find(fake->configured[i]);
      const double value = found == range.values.end() ? 0 : found->second;
      std::memcpy(at + kNameBytes + i * sizeof(double), &value, sizeof(value));
    }
    at += range_bytes();
  }
  p->numTotalRanges = fake->closed.size();
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI range_info(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* p) {
  const auto* const data = static_cast<const std::uint8_t*>(p->pCounterDataImage);
  p->rangeName = reinterpret_cast<const char*>(data + sizeof(std::size_t) + p->rangeIndex * range_bytes());
  return CUPTI_SUCCESS;
}

}  // namespace

void FakeProfiler::count(const std::string& metric, double value) {
  for (Range& range : open) range.values[metric] += value;
}

void FakeProfiler::run_kernel(std::map<std::string, double> values) {
  if (is_running && is_by_kernel) closed.push_back({std::to_string(closed.size()), std::move(values)});
}

FakeProfiler& FakeProfiler::make() {
  fake = std::make_unique<FakeProfiler>();
  return *fake;
}

ProfilerApi FakeProfiler::api() {
  return {.initialize = collect::initialize,
          .deinitialize = collect::deinitialize,
          .chip_name = collect::chip_name,
          .availability = collect::availability,
          .host_initialize = collect::host_initialize,
          .host_deinitialize = collect::host_deinitialize,
          .add_metrics = collect::add_metrics,
          .config_size = collect::config_size,
          .config_image = collect::config_image,
          .passes = collect::passes,
          .evaluate = collect::evaluate,
          .enable = collect::enable,
          .disable = collect::disable,
          .data_size = collect::data_size,
          .initialize_data = collect::initialize_data,
          .set_config = collect::set_config,
          .start = collect::start,
          .stop = collect::stop,
          .push = collect::push,
          .pop = collect::pop,
          .decode = collect::decode,
          .data_info = collect::data_info,
          .range_info = collect::range_info};
}

}  // namespace kymo::collect

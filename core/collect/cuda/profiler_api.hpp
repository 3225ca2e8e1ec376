// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <string>

namespace kymo::collect {

/// The functions of CUPTI that count, so that tests replace them.
struct ProfilerApi {
  decltype(&cuptiProfilerInitialize) initialize = cuptiProfilerInitialize;
  decltype(&cuptiProfilerDeInitialize) deinitialize = cuptiProfilerDeInitialize;
  decltype(&cuptiDeviceGetChipName) chip_name = cuptiDeviceGetChipName;
  decltype(&cuptiProfilerGetCounterAvailability) availability = cuptiProfilerGetCounterAvailability;
  // Planning and evaluation, which need no driver.
  decltype(&cuptiProfilerHostInitialize) host_initialize = cuptiProfilerHostInitialize;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = cuptiProfilerHostDeinitialize;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = cuptiProfilerHostConfigAddMetrics;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = cuptiProfilerHostGetConfigImageSize;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = cuptiProfilerHostGetConfigImage;
  decltype(&cuptiProfilerHostGetNumOfPasses) passes = cuptiProfilerHostGetNumOfPasses;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = cuptiProfilerHostEvaluateToGpuValues;
  // Counting.
  decltype(&cuptiRangeProfilerEnable) enable = cuptiRangeProfilerEnable;
  decltype(&cuptiRangeProfilerDisable) disable = cuptiRangeProfilerDisable;
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = cuptiRangeProfilerGetCounterDataSize;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_data =
      cuptiRangeProfilerCounterDataImageInitialize;
  decltype(&cuptiRangeProfilerSetConfig) set_config = cuptiRangeProfilerSetConfig;
  decltype(&cuptiRangeProfilerStart) start = cuptiRangeProfilerStart;
  decltype(&cuptiRangeProfilerStop) stop = cuptiRangeProfilerStop;
  decltype(&cuptiRangeProfilerPushRange) push = cuptiRangeProfilerPushRange;
  decltype(&cuptiRangeProfilerPopRange) pop = cuptiRangeProfilerPopRange;
  decltype(&cuptiRangeProfilerDecodeData) decode = cuptiRangeProfilerDecodeData;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = cuptiRangeProfilerGetCounterDataInfo;
  decltype(&cuptiRangeProfilerCounterDataGetRangeInfo) range_info = cuptiRangeProfilerCounterDataGetRangeInfo;
};

/// Loads the libraries that CUPTI looks for when it counts, from the directory of CUPTI itself. Throws Unavailable with
/// the reason and what to do.
void require_profiler_libraries();

/// Throws Unavailable with the reason and what to do unless `result` is success.
void require_counters(CUptiResult result, const char* what);

/// In one line.
std::string counter_problem(CUptiResult result, const char* what);

/// The size that a parameter struct of CUPTI has in this version, followed by zeros.
#define KYMO_CUPTI_PARAMETERS(Type, name) \
  Type name{};                            \
  (name).structSize = Type##_STRUCT_SIZE

}  // namespace kymo::collect

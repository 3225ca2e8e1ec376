// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/counter_plan.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "collect/collector.hpp"

namespace kymo::collect {
namespace {

/// Further sets are counted in other steps, so a metric of the last set is counted in one of so many steps.
constexpr std::size_t kMaxSets = 3;

using Names = std::vector<std::string>;

/// In the order of importance. The view counter_summary reads the names. Work of tensor cores is counted by operand
/// type, without structured sparsity.
Names wanted_metrics(std::string_view chip) {
  const std::string ops = "sm__ops_path_tensor_";
  Names names{"dram__bytes_read.sum", "dram__bytes_write.sum", "sm__cycles_elapsed.max", "sm__cycles_active.sum",
              "sm__pipe_tensor_cycles_active.sum"};
  if (chip.starts_with("GH")) {
    // Hopper counts the instructions of warp groups (hgmma, igmma) and of warps (hmma, imma) apart: the sums of both
    // need several passes.
    for (const char* name :
         {"op_hgmma_src_bf16_dst_fp32_sparsity_off.sum", "op_hmma_src_bf16_dst_fp32_sparsity_off.sum",
          "op_hgmma_src_tf32_dst_fp32_sparsity_off.sum", "op_hgmma_src_fp16_sparsity_off.sum",
          "src_fp8_sparsity_off.sum"})
      names.push_back(ops + name);
    names.emplace_back("lts__t_bytes.sum");
    for (const char* name : {"op_hmma_src_fp16_dst_fp32_sparsity_off.sum", "op_hmma_src_tf32_dst_fp32_sparsity_off.sum",
                             "op_hmma_src_fp16_dst_fp16_sparsity_off.sum", "src_fp64.sum",
                             "op_igmma_src_int8_sparsity_off.sum", "op_imma_src_int8_sparsity_off.sum"})
      names.push_back(ops + name);
    return names;
  }
  names.emplace_back("lts__t_bytes.sum");
  for (const char* name : {"src_bf16_dst_fp32.sum", "src_fp16_dst_fp32.sum", "src_tf32_dst_fp32.sum",
                           "src_fp16_dst_fp16_sparsity_off.sum", "src_fp8.sum", "src_fp64.sum", "src_int8.sum"})
    names.push_back(ops + name);
  return names;
}

/// Returns 0 if the chip does not have one of the metrics.
std::size_t count_passes(const ProfilerApi& api, const std::string& chip, const Names& metrics) {
  try {
    return CounterSet(api, chip, metrics).passes();
  } catch (const Unavailable&) {
    return 0;
  }
}

}  // namespace

CounterSet::CounterSet(const ProfilerApi& api, const std::string& chip, const Names& metrics)
    : api_(api), metrics_(metrics), values_(metrics.size()) {
  for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, initialize);
  initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  initialize.pChipName = chip.c_str();
  if (const CUptiResult result = api_.host_initialize(&initialize); result != CUPTI_SUCCESS)
    throw Unavailable("CUPTI has no hardware counters for the chip " + quote(chip) + "; use a newer CUPTI");
  host_ = initialize.pHostObject;
  try {
    configure();
  } catch (const Unavailable&) {
    end();
    throw;
  }
}

void CounterSet::configure() {
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  require_counters(api_.add_metrics(&add), "adding metrics");
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_;
  require_counters(api_.config_size(&size), "sizing the configuration");
  image_.resize(size.configImageSize);
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_;
  image.configImageSize = image_.size();
  image.pConfigImage = image_.data();
  require_counters(api_.config_image(&image), "making the configuration");
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = image_.size();
  passes.pConfigImage = image_.data();
  require_counters(api_.passes(&passes), "counting the passes");
  passes_ = passes.numOfPasses;
}

CounterSet::~CounterSet() { end(); }

void CounterSet::end() {
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
  parameters.pHostObject = host_;
  api_.host_deinitialize(&parameters);
}

const std::vector<double>& CounterSet::evaluate(const std::vector<std::uint8_t>& data, std::size_t range) {
  KYMO_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
  evaluate.pHostObject = host_;
  evaluate.pCounterDataImage = data.data();
  evaluate.counterDataImageSize = data.size();
  evaluate.rangeIndex = range;
  evaluate.ppMetricNames = names_.data();
  evaluate.numMetrics = names_.size();
  evaluate.pMetricValues = values_.data();
  require_counters(api_.evaluate(&evaluate), "evaluating a range");
  return values_;
}

std::vector<Names> plan_counters(const ProfilerApi& api, const std::string& chip) {
  std::vector<Names> sets;
  for (const std::string& metric : wanted_metrics(chip)) {
    if (count_passes(api, chip, {metric}) != 1) continue;
    const auto fits = [&](Names& set) {
      set.push_back(metric);
      if (count_passes(api, chip, set) == 1) return true;
      set.pop_back();
      return false;
    };
    if (std::ranges::none_of(sets, fits) && sets.size() < kMaxSets) sets.push_back({metric});
  }
  if (sets.empty())
    throw Unavailable("CUPTI has no hardware counters that kymo knows for the chip " + quote(chip) +
                      "; use a newer CUPTI");
  return sets;
}

}  // namespace kymo::collect

// SPDX-License-Identifier: Apache-2.0
#include "base/enum_names.hpp"
#include "event/derived.hpp"
#include "event/memory.hpp"
#include "event/records.hpp"
#include "event/trace.hpp"

namespace kymo::event {
namespace {

constexpr auto kAttributionNames = enum_names<Attribution>("attribution", {{Attribution::kNone, "none"},
                                                                           {Attribution::kPhase, "phase"},
                                                                           {Attribution::kLaunch, "launch"},
                                                                           {Attribution::kAutograd, "autograd"},
                                                                           {Attribution::kGraph, "graph"}});
constexpr auto kOperationNames =
    enum_names<CollectiveOperation>("collective operation", {{CollectiveOperation::kAllReduce, "all_reduce"},
                                                             {CollectiveOperation::kReduceScatter, "reduce_scatter"},
                                                             {CollectiveOperation::kAllGather, "all_gather"},
                                                             {CollectiveOperation::kBroadcast, "broadcast"},
                                                             {CollectiveOperation::kBarrier, "barrier"}});
constexpr auto kCategoryNames =
    enum_names<MemoryCategory>("memory category", {{MemoryCategory::kParameter, "parameter"},
                                                   {MemoryCategory::kGradient, "gradient"},
                                                   {MemoryCategory::kOptimizerState, "optimizer_state"},
                                                   {MemoryCategory::kActivation, "activation"},
                                                   {MemoryCategory::kWorkspace, "workspace"},
                                                   {MemoryCategory::kInput, "input"},
                                                   {MemoryCategory::kUnknown, "unknown"}});

constexpr auto kActivityNames = enum_names<ActivityKind>(
    "activity kind",
    {{ActivityKind::kKernel, "kernel"}, {ActivityKind::kMemcpy, "memcpy"}, {ActivityKind::kMemset, "memset"}});
constexpr auto kDeviceNames =
    enum_names<MemoryDevice>("memory device", {{MemoryDevice::kCpu, "cpu"}, {MemoryDevice::kCuda, "cuda"}});
constexpr auto kLevelNames = enum_names<MetricLevel>(
    "metric level", {{MetricLevel::kRun, "run"}, {MetricLevel::kStep, "step"}, {MetricLevel::kPhase, "phase"}});
constexpr auto kOutcomeNames = enum_names<CheckOutcome>("check outcome", {{CheckOutcome::kPassed, "passed"},
                                                                          {CheckOutcome::kUnavailable, "unavailable"},
                                                                          {CheckOutcome::kFailed, "failed"}});

}  // namespace

const char* to_string(ActivityKind kind) { return kActivityNames.name(kind); }
const char* to_string(MemoryDevice device) { return kDeviceNames.name(device); }
const char* to_string(MetricLevel level) { return kLevelNames.name(level); }
const char* to_string(CheckOutcome outcome) { return kOutcomeNames.name(outcome); }
CheckOutcome check_outcome_from(const std::string& text) { return kOutcomeNames.value(text); }
const char* to_string(Attribution attribution) { return kAttributionNames.name(attribution); }
const char* to_string(CollectiveOperation operation) { return kOperationNames.name(operation); }
const char* to_string(MemoryCategory category) { return kCategoryNames.name(category); }

}  // namespace kymo::event

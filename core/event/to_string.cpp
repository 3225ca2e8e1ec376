// SPDX-License-Identifier: Apache-2.0
#include "base/enum_names.hpp"
#include "event/derived.hpp"
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

}  // namespace

const char* to_string(Attribution attribution) { return kAttributionNames.name(attribution); }
const char* to_string(CollectiveOperation operation) { return kOperationNames.name(operation); }
const char* to_string(MemoryCategory category) { return kCategoryNames.name(category); }

}  // namespace kymo::event

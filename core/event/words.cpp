// SPDX-License-Identifier: Apache-2.0
#include "event/derived.hpp"
#include "event/trace.hpp"

namespace kymo::event {

const char* to_string(Attribution attribution) {
  switch (attribution) {
    case Attribution::kNone:
      return "none";
    case Attribution::kPhase:
      return "phase";
    case Attribution::kLaunch:
      return "launch";
    case Attribution::kAutograd:
      return "autograd";
    case Attribution::kGraph:
      break;
  }
  return "graph";
}

const char* to_string(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllReduce:
      return "all_reduce";
    case CollectiveOperation::kReduceScatter:
      return "reduce_scatter";
    case CollectiveOperation::kAllGather:
      return "all_gather";
    case CollectiveOperation::kBroadcast:
      return "broadcast";
    case CollectiveOperation::kBarrier:
      break;
  }
  return "barrier";
}

const char* to_string(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kParameter:
      return "parameter";
    case MemoryCategory::kGradient:
      return "gradient";
    case MemoryCategory::kOptimizerState:
      return "optimizer_state";
    case MemoryCategory::kActivation:
      return "activation";
    case MemoryCategory::kWorkspace:
      return "workspace";
    case MemoryCategory::kInput:
      return "input";
    case MemoryCategory::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace kymo::event

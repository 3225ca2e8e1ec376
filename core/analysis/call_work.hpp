// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/operator_arguments.hpp"
#include "event/derived.hpp"

namespace kymo::analysis::count {

/// Work whose model FLOPs are its FLOPs.
inline event::CallWork work(event::WorkKind kind, std::string dtype, double flops, double bytes) {
  return {kind, std::move(dtype), flops, flops, flops, bytes};
}

inline double total_bytes(const std::vector<const TensorArgument*>& tensors) {
  double bytes = 0;
  for (const TensorArgument* each : tensors) bytes += each->bytes;
  return bytes;
}

}  // namespace kymo::analysis::count

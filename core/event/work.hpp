// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/enum_names.hpp"
#include "event/texts.hpp"

namespace kymo::event {

using kymo::to_string;  // so that it is found by argument-dependent lookup

enum class WorkKind : std::uint8_t {
  kMatmul,
  kAttention,
  kConvolution,
  kNormalization,
  kSoftmax,
  kElementwise,
  kReduction,
  kCopy,
  kIndexing,
  kOptimizer,
  kCollective,
  kDeclared,  ///< by the workload
  kUnknown,
  kOverhead  ///< operators that do no work themselves
};
constexpr auto names_of(WorkKind) {
  using enum WorkKind;
  return enum_names<WorkKind>("kind of work", {{kMatmul, "matmul"},
                                               {kAttention, "attention"},
                                               {kConvolution, "convolution"},
                                               {kNormalization, "normalization"},
                                               {kSoftmax, "softmax"},
                                               {kElementwise, "elementwise"},
                                               {kReduction, "reduction"},
                                               {kCopy, "copy"},
                                               {kIndexing, "indexing"},
                                               {kOptimizer, "optimizer"},
                                               {kCollective, "collective"},
                                               {kDeclared, "declared"},
                                               {kUnknown, "unknown"},
                                               {kOverhead, "overhead"}});
}

/// Work of one call of an operator; empty values are unknown. analysis/operator_work.hpp defines the counts.
struct CallWork {
  WorkKind kind = WorkKind::kUnknown;
  std::string dtype;
  std::optional<double> flops, model_flops, masked_model_flops, bytes;
};

struct OpWork {
  std::int32_t phase = -1;
  TextId scope = kNoText;
  TextId name = kNoText;
  TextId arguments = kNoText;
  bool recomputed = false;
  CallWork call;
  std::int64_t steps = 0, calls = 0, host_ns = 0, kernels = 0, device_ns = 0;
};

}  // namespace kymo::event

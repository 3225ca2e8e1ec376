// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/communicator.hpp>
#include <kymo/context.hpp>
#include <kymo/descriptor.hpp>
#include <optional>

#include "training/parameter_update.hpp"
#include "training/trained_model.hpp"

namespace kymo::training {

/// Parameters common to all data-parallel workloads, parsed and validated.
struct DataParallelSettings {
  ModelSetting model;
  std::int64_t batch = 2;  ///< examples per rank
  at::ScalarType dtype = at::kFloat;
  std::optional<at::ScalarType> autocast;
  UpdateRule rule;
  comm::Backend backend = comm::Backend::kGloo;
  int max_blocks = 0;  ///< maximum thread blocks of NCCL's kernels; 0 uses NCCL's default
  bool communicate = true;
};

Descriptor describe_data_parallel(const char* name, const char* documentation);

/// Throws std::invalid_argument for an invalid choice. Skips the run if autocast has no effect.
DataParallelSettings read_data_parallel(const Context& ctx);

}  // namespace kymo::training

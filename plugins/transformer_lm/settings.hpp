// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <kymo/descriptor.hpp>
#include <optional>
#include <string>

#include "training/step.hpp"
#include "transformer/config.hpp"

/// The workload's parameters, parsed and validated.
struct Settings {
  kymo::transformer::Config model;
  std::int64_t batch = 4;
  at::ScalarType dtype = at::kFloat;
  std::optional<at::ScalarType> autocast;
  kymo::training::Mode mode = kymo::training::Mode::kTrain;
  std::string attention;
  bool graph = false;  ///< replay the step as a CUDA graph
};

kymo::Descriptor describe_settings();

/// Throws std::invalid_argument for an invalid model. Skips the run if autocast has no effect, the device has no CUDA
/// graphs, or the attention is not supported.
Settings read_settings(kymo::Context& ctx);

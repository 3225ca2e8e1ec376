// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <kymo/descriptor.hpp>
#include <kymo/verification.hpp>
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

/// Compares a small model with the run's type, attention and autocast with a float64 reference (logits, loss,
/// gradients), and the optimizer with the AdamW formula. With execution=graph, also compares the losses and gradients
/// of replays with those of eager steps.
kymo::Verification verify_transformer(kymo::Context& ctx, const Settings& settings, const at::Device& device);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <kymo/verification.hpp>

#include "settings.hpp"

/// Compares a small model with the run's type, attention and autocast with a float64 reference (logits, loss,
/// gradients), and the optimizer with the AdamW formula. With execution=graph, also compares the losses and gradients
/// of replays with those of eager steps.
kymo::Verification verify_transformer(kymo::Context& ctx, const Settings& settings, const at::Device& device);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <kymo/verification.hpp>

#include "settings.hpp"

/// Holds a small model with the run's type, attention and autocast against a float64 reference (logits, loss,
/// gradients), and the optimizer against the textbook formula of AdamW. With execution=graph also the losses and
/// gradients of replays against those of eager steps.
kymo::Verification verify_transformer(kymo::Context& ctx, const Settings& settings, const at::Device& device);

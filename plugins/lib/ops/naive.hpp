// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/problem.hpp"

/// Reference attention that materializes all scores: short, slow for long sequences, used to check the other
/// implementations.
namespace kymo::ops::naive {

void forward(const ForwardTensors& tensors, const Setting& setting);
/// Recomputes the scores and their softmax; the log-sum-exp is not used.
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::naive

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/problem.hpp"

/// Attention as the textbook writes it, with all scores in memory: short, slow for long sequences, and what the others
/// are held against.
namespace kymo::ops::naive {

void forward(const ForwardTensors& tensors, const Setting& setting);
/// Computes the scores and their softmax again; the log-sum-exp is not used.
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::naive

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/problem.hpp"

/// FlashAttention-2 in tensor operations, tile by tile as published: exact attention on every LibTorch device, with
/// memory linear instead of quadratic in the sequence length. T. Dao, "FlashAttention-2: Faster Attention with Better
/// Parallelism and Work Partitioning", 2023 (arXiv 2307.08691), algorithms 1 and 2.
namespace kymo::ops::tiled {

void forward(const ForwardTensors& tensors, const Setting& setting);
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::tiled

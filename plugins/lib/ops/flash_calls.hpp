// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ops/problem.hpp"

/// The CUDA kernels as seen from tensors: strides, streams, workspace, and why they do not run where they do not.
namespace kymo::ops::flash {

enum class Direction { kForward, kBackward };

/// Empty if the kernels take tensors [batch, heads, sequence, d] like these, else what is wrong, to be read after
/// "flash ".
std::string refusal(const at::Tensor& query, const at::Tensor& key, const Setting& setting, Direction direction);

/// Queue the kernels on LibTorch's current stream of the query's device. Throw c10::Error where the kernels refuse or
/// fail to start.
void forward(const ForwardTensors& tensors, const Setting& setting);
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::flash

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ops/problem.hpp"

/// Tensor interface to the CUDA kernels: strides, streams, workspace, and the reason if they do not support a call.
namespace kymo::ops::flash {

enum class Direction { kForward, kBackward };

/// Empty if the kernels support tensors [batch, heads, sequence, d] with these properties; otherwise an error message
/// to append to "flash ".
std::string refusal(const at::Tensor& query, const at::Tensor& key, const Setting& setting, Direction direction);

/// Queue the kernels on LibTorch's current stream of query's device. Throw c10::Error if the kernels reject the call or
/// fail to launch.
void forward(const ForwardTensors& tensors, const Setting& setting);
void backward(const BackwardTensors& tensors, const Setting& setting);

}  // namespace kymo::ops::flash

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "ops/layers.hpp"

/// Tensor interface to the CUDA kernels of the layers. Each function queues the kernels on LibTorch's current stream of
/// the tensors' device and returns true, or returns false, having done nothing, if they do not support the tensors:
/// the caller then uses LibTorch's operators. Tensors are checked, contiguous unless stated otherwise, and not empty.
namespace kymo::ops::layer_kernels {

/// `residual` and `sum` are both undefined or both defined; then x has the type of y, and otherwise its own.
struct RmsNormTensors {
  at::Tensor x, residual, weight;
  at::Tensor y, sum;
  double epsilon = 0;
};
bool rms_norm(const RmsNormTensors& tensors);

struct RmsNormBackwardTensors {
  at::Tensor gradient, sum_gradient;  ///< sum_gradient may be undefined
  at::Tensor x, weight;
  at::Tensor x_gradient, weight_gradient;
  double epsilon = 0;
};
bool rms_norm_backward(const RmsNormBackwardTensors& tensors);

bool swiglu(const at::Tensor& gate_and_up, const at::Tensor& result);
bool swiglu_backward(const at::Tensor& gradient, const at::Tensor& gate_and_up, const at::Tensor& result);

/// Rotates [batch, heads, sequence, d] tensors of any strides into `joint`, [batch, sequence, 3, heads, d]. Without a
/// value, writes query and key only.
struct RotaryTensors {
  at::Tensor query, key, value;
  at::Tensor rotation, joint;
  bool inverse = false;
};
bool rotary(const RotaryTensors& tensors);

/// `copies` is empty, or contains tensors without elements for parameters that have no copy. Gradients and copies have
/// the type of the parameters or `narrow`.
struct AdamWTensors {
  at::TensorList parameters, gradients, means, square_means, steps, copies;
  at::ScalarType narrow = at::kFloat;
};
bool adamw(const AdamWTensors& tensors, const AdamWOptions& options);

/// Replaces logits, [rows, classes] with a row stride of a multiple of 16 bytes, by the gradient of `scale` times the
/// sum of the losses, unless `scale` is 0, and writes the loss of each row in fp32.
bool cross_entropy(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& losses, double scale);

/// result = sums * factor: fp32 sums, and a factor of one element; rounded to the type of the result.
bool scale(const at::Tensor& sums, const at::Tensor& factor, const at::Tensor& result);

}  // namespace kymo::ops::layer_kernels

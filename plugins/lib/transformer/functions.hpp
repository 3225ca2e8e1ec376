// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "transformer/attention.hpp"

namespace kymo::transformer {

/// Rotary position embedding as complex numbers: pair i of a head at position p is rotated by the angle
/// p·theta^(−2i/head_dim).
struct Rotary {
  at::Tensor rotation;          ///< [positions, head_dim / 2], complex; double for fp64 models, else float
  at::Tensor inverse_rotation;  ///< its conjugate, for gradients
};

Rotary make_rotary(std::int64_t positions, std::int64_t head_dim, double theta, const at::TensorOptions& options);
Rotary first_positions(const Rotary& rotary, std::int64_t count);

/// Splits the joint projection [batch·sequence, 3·heads·head_dim] into query, key and value, [batch, heads, sequence,
/// head_dim] each, and rotates query and key by their position (in at least float precision). With
/// Layout::kTokensFirst, it works in place on `projected`, which must not be used afterwards. It launches one kernel
/// for the rotation and one for the layout, instead of a dozen for splitting, rotating and joining. `rotary` has one
/// row per position of the sequence. Differentiable once.
std::array<at::Tensor, 3> split_and_rotate(const at::Tensor& projected, const Rotary& rotary, std::int64_t batch,
                                           std::int64_t heads, Layout layout);

/// silu(gate) · up, where gate and up are the halves of the last dimension of [tokens, 2·d_ff]. The gradient is written
/// directly into one tensor. Differentiable once.
at::Tensor swiglu(const at::Tensor& gate_and_up);

}  // namespace kymo::transformer

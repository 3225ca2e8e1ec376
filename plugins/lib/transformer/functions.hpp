// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "transformer/attention.hpp"

namespace kymo::transformer {

/// Rotary position embedding as complex numbers: pair i of a head, at position p, turns by the angle
/// p·theta^(−2i/head_dim).
struct Rotary {
  at::Tensor turn;       ///< [positions, head_dim / 2], complex; double for fp64 models, else float
  at::Tensor turn_back;  ///< its conjugate, for gradients
};

Rotary make_rotary(std::int64_t positions, std::int64_t head_dim, double theta, const at::TensorOptions& options);
Rotary first_positions(const Rotary& rotary, std::int64_t count);

/// Takes the joint projection [batch·sequence, 3·heads·head_dim] apart into query, key and value, [batch, heads,
/// sequence, head_dim] each, and turns query and key by their position (in at least float). With Layout::kTokensFirst
/// it works in the memory of `projected`, which must not be used afterwards. One kernel each for turning and for
/// moving, where taking apart, turning and joining would be a dozen. `rotary` has one row per position of the sequence.
/// Differentiable once.
std::array<at::Tensor, 3> split_and_rotate(const at::Tensor& projected, const Rotary& rotary, std::int64_t batch,
                                           std::int64_t heads, Layout layout);

/// silu(gate) · up, where gate and up are the halves of the last dimension of [tokens, 2·d_ff]. Its gradient is written
/// straight into one tensor. Differentiable once.
at::Tensor swiglu(const at::Tensor& gate_and_up);

}  // namespace kymo::transformer

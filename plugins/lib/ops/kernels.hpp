// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "ops/flash_calls.hpp"

/// The operator implementations, one for all devices, and shape inference (Meta). Arguments are those of the operator
/// schemas.
namespace kymo::ops {

enum class Implementation { kNaive, kTiled, kFlash };

/// The implementation with this name. Throws if the name is unknown, or if flash is requested but not supported.
Implementation choose(std::string_view name, const at::Tensor& query, const at::Tensor& key, const Setting& setting,
                      flash::Direction direction);

std::tuple<at::Tensor, at::Tensor> forward_kernel(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                  bool causal, std::optional<double> scale,
                                                  std::string_view implementation);
std::tuple<at::Tensor, at::Tensor> forward_shapes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                  bool causal, std::optional<double> scale,
                                                  std::string_view implementation);

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_kernel(const at::Tensor& output_gradient, const at::Tensor& q,
                                                               const at::Tensor& k, const at::Tensor& v,
                                                               const at::Tensor& o, const at::Tensor& lse, bool causal,
                                                               std::optional<double> scale,
                                                               std::string_view implementation, bool deterministic);
std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_shapes(const at::Tensor& output_gradient, const at::Tensor& q,
                                                               const at::Tensor& k, const at::Tensor& v,
                                                               const at::Tensor& o, const at::Tensor& lse, bool causal,
                                                               std::optional<double> scale,
                                                               std::string_view implementation, bool deterministic);

}  // namespace kymo::ops

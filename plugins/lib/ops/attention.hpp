// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#define KYMO_OPS_API __attribute__((visibility("default")))

/// C++ interface to the softmax attention operators. Python calls the same operators as torch.ops.kymo.* after loading
/// libkymo_ops.so.
///
/// Query is [batch, sequence, d] or [batch, heads, sequence, d]; key and value have equal shapes and the same number of
/// dimensions as query. Strides are arbitrary if the last dimension is contiguous. Types: fp32, bf16, fp16, and fp64
/// except with flash. Query and key lengths may differ. The number of query heads may be a multiple of the number of
/// key and value heads; consecutive query heads then share a key head (grouped-query attention).
///
/// With `causal`, query i sees key j if j <= i + (key length - query length): the mask is aligned bottom-right, as in
/// FlashAttention since 2.1. (LibTorch's scaled_dot_product_attention(is_causal=True) aligns it top-left; the two agree
/// if the lengths are equal.) A query that sees no key, or only keys with a score of −∞, gives an output of 0 and a
/// log-sum-exp of −∞ and has no gradient. A score of +∞ or NaN makes its row NaN.
///
/// flash requires a d of 8 to 256 in multiples of 8 and a scale above 0, and copies tensors whose rows do not start on
/// 16-byte boundaries. naive and tiled take any d.
///
/// Invalid inputs throw c10::Error or a derived class with a one-line message that states the requirement.
namespace kymo::ops {

/// Implementations: auto uses flash if it supports the inputs, otherwise tiled. naive materializes all scores. tiled is
/// FlashAttention-2 in tensor operations, on any device. flash is FlashAttention-2 in CUDA.
struct AttentionOptions {
  bool causal = false;
  std::optional<double> scale{};        ///< scores are multiplied by this; default 1/√d
  std::string implementation = "auto";  ///< auto, naive, tiled or flash
  bool deterministic = false;  ///< bitwise reproducible gradients; also set by torch.use_deterministic_algorithms();
                               ///< naive and tiled are always deterministic
};

/// Returns the output, with the shape and type of query. Differentiable: saves query, key, value, output and the
/// log-sum-exp only.
KYMO_OPS_API at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                  const AttentionOptions& options = {});

/// Returns the output and the log-sum-exp of each query's scaled scores: natural logarithm, fp32 (fp64 for fp64),
/// shaped like query without its last dimension. The output is differentiable, the log-sum-exp is not.
KYMO_OPS_API std::tuple<at::Tensor, at::Tensor> attention_forward(const at::Tensor& query, const at::Tensor& key,
                                                                  const at::Tensor& value,
                                                                  const AttentionOptions& options = {});

/// Returns the gradients of query, key and value, given the gradient of the output and the results of
/// attention_forward() for the same options.
KYMO_OPS_API std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& output_gradient, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& output, const at::Tensor& log_sum_exp, const AttentionOptions& options = {});

/// Returns the implementation that attention_forward() uses for these inputs: naive, tiled or flash. Throws under the
/// same conditions, including when flash is requested but not supported.
KYMO_OPS_API std::string chosen_implementation(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                               const AttentionOptions& options = {});

/// Returns why flash does not support these inputs, forward and backward; empty if it does.
KYMO_OPS_API std::string why_not_flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const AttentionOptions& options = {});

}  // namespace kymo::ops

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#define KYMO_OPS_API __attribute__((visibility("default")))

/// Softmax attention as LibTorch operators, from C++. The same operators are torch.ops.kymo.* once Python has loaded
/// libkymo_ops.so.
///
/// Query is [batch, sequence, d] or [batch, heads, sequence, d]; key and value are equal in shape and of as many
/// dimensions. Any strides will do if the last dimension is contiguous. Types: fp32, bf16, fp16, and fp64 except with
/// flash. Lengths of query and key may differ. The heads of the query may be a multiple of those of key and value:
/// neighbours then share a key head (grouped-query attention).
///
/// With `causal`, query i sees key j if j <= i + (key length - query length): both sequences end together, as in
/// FlashAttention since 2.1. (LibTorch's scaled_dot_product_attention(is_causal=True) lets them begin together; the two
/// agree where the lengths are equal.) A query that sees no key, or none with a score above −∞, gives an output of 0
/// and a log-sum-exp of −∞, and takes and gives no gradient. A score of +∞ or NaN makes its row NaN.
///
/// flash takes a d of 8 to 256 in multiples of 8 and a scale above 0, and copies a tensor whose rows do not start on
/// 16-byte boundaries. naive and tiled take any d.
///
/// Wrong inputs throw c10::Error or a class derived from it, with one line that says what would be right.
namespace kymo::ops {

struct AttentionOptions {
  bool causal = false;
  std::optional<double> scale{};        ///< what scores are multiplied by; 1/√d by default
  std::string implementation = "auto";  ///< a name of implementation_names()
  bool deterministic = false;  ///< gradients are the same to the last bit every time; so they are if LibTorch is told
                               ///< to be deterministic, and with naive and tiled always
};

/// auto: flash where it can, else tiled. naive: all scores in memory. tiled: FlashAttention-2 in tensor operations, on
/// any device. flash: FlashAttention-2 in CUDA.
KYMO_OPS_API const std::vector<std::string>& implementation_names();

/// The output, of the shape and type of the query, with a gradient. For it are kept query, key, value, output and the
/// log-sum-exp alone.
KYMO_OPS_API at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                  const AttentionOptions& options = {});

/// The output and the log-sum-exp of each query's scores: natural logarithm, after scaling, fp32 (fp64 for fp64), the
/// query's shape without its last dimension. The output has a gradient, the log-sum-exp has none.
KYMO_OPS_API std::tuple<at::Tensor, at::Tensor> attention_forward(const at::Tensor& query, const at::Tensor& key,
                                                                  const at::Tensor& value,
                                                                  const AttentionOptions& options = {});

/// The gradients of query, key and value, given that of the output and what attention_forward() returned for the same
/// options.
KYMO_OPS_API std::tuple<at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& output_gradient, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& output, const at::Tensor& log_sum_exp, const AttentionOptions& options = {});

/// What attention_forward() uses for these inputs: naive, tiled or flash. Throws as it does, also where flash was asked
/// for and cannot run.
KYMO_OPS_API std::string chosen_implementation(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                               const AttentionOptions& options = {});

/// Why flash does not run for these inputs, forward and backward; empty where it does.
KYMO_OPS_API std::string why_not_flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const AttentionOptions& options = {});

}  // namespace kymo::ops

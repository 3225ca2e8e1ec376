// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::transformer {

/// How query, key and value lie in memory; their shape is [batch, heads, sequence, head_dim] either way.
enum class Layout {
  kHeadsFirst,   ///< contiguous as shaped, for batched matrix products
  kTokensFirst,  ///< the heads of a token side by side, as a projection leaves them
};

/// Softmax attention: one implementation of softmax(q·kᵀ/√head_dim)·v, with a gradient. Not for use by several threads.
class Attention {
 public:
  virtual ~Attention() = default;
  /// The layout that apply() takes without a copy.
  virtual Layout layout() const = 0;
  /// Query, key, value and the result are [batch, heads, sequence, head_dim]. Scopes name the parts where there are
  /// any.
  virtual at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key,
                           const at::Tensor& value) = 0;
};

/// Floating-point operations of forward attention by part, a multiply-add counting two. Scaling and masking count
/// nothing.
struct AttentionFlops {
  double scores = 0;   ///< q·kᵀ: 2·head_dim per score
  double softmax = 0;  ///< 5 per score: maximum, subtraction, exponential, sum, division
  double values = 0;   ///< the product of weights and values: 2·head_dim per score
};
/// For `scores` pairs of a query and a key, those of all sequences, heads and layers together.
AttentionFlops attention_flops(double scores, std::int64_t head_dim);
/// Reports them as metrics of the run: attention_scores_flops, attention_softmax_flops, attention_values_flops.
void report(const Context& ctx, const AttentionFlops& flops);

/// The names that make_attention() knows: naive, tiled, flash, sdpa, and sdpa_ with the name of a backend of
/// LibTorch's.
const std::vector<std::string>& attention_names();
/// Those that run on every device, for every type and width.
const std::vector<std::string>& portable_attention_names();

/// naive: matrix products and a softmax, with all scores in memory. tiled, flash: kymo's operators (ops/attention.hpp),
/// in tensor operations and in CUDA. sdpa: LibTorch's scaled_dot_product_attention, which chooses its kernel;
/// sdpa_cudnn, sdpa_flash, sdpa_efficient and sdpa_math let it use that one alone. `causal` hides the tokens that come
/// after. Throws std::invalid_argument for an unknown name.
std::unique_ptr<Attention> make_attention(std::string_view name, bool causal);
/// kymo's operators with one of their implementations: auto, naive, tiled or flash.
std::unique_ptr<Attention> make_operator_attention(std::string_view implementation, bool causal, bool deterministic);

/// Why an attention does not run, with its gradient, for a device, type, length and head width; empty where it does.
std::string why_unavailable(std::string_view name, const at::Device& device, at::ScalarType dtype,
                            std::int64_t sequence, std::int64_t head_dim);

}  // namespace kymo::transformer

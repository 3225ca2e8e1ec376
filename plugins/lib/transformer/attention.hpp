// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::transformer {

/// Memory layout of query, key and value; their shape is [batch, heads, sequence, head_dim] in either case.
enum class Layout {
  kHeadsFirst,   ///< contiguous as shaped, for batched matrix multiplications
  kTokensFirst,  ///< the heads of a token are adjacent, as in the output of a projection
};

/// Softmax attention: one implementation of softmax(q·kᵀ/√head_dim)·v, differentiable. Not thread-safe.
class Attention {
 public:
  virtual ~Attention() = default;
  /// The layout that apply() accepts without a copy.
  virtual Layout layout() const = 0;
  /// Query, key, value and the result are [batch, heads, sequence, head_dim]. Opens scopes for its parts, if it has
  /// any.
  virtual at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key,
                           const at::Tensor& value) = 0;
  /// If the implementation keeps a matrix of all scores for the backward pass, the next call of apply() discards it,
  /// and computes it again within `scopes`, those around the call.
  virtual void recompute_in(std::vector<std::string> scopes) { static_cast<void>(scopes); }
};

/// Floating-point operations of the forward attention by part; a multiply-add counts as two. Scaling and masking are
/// not counted.
struct AttentionFlops {
  double scores = 0;   ///< q·kᵀ: 2·head_dim per score
  double softmax = 0;  ///< 5 per score: maximum, subtraction, exponential, sum, division
  double values = 0;   ///< weights times values: 2·head_dim per score
};
/// `scores`: number of query-key pairs, summed over all sequences, heads and layers.
AttentionFlops attention_flops(double scores, std::int64_t head_dim);
/// Reports them as metrics of the run: attention_scores_flops, attention_softmax_flops, attention_values_flops.
void report(const Context& ctx, const AttentionFlops& flops);

/// The names accepted by make_attention(): naive, tiled, flash, sdpa, and sdpa_ followed by the name of a LibTorch
/// backend.
const std::vector<std::string>& attention_names();

/// naive: matrix multiplications and a softmax, with all scores in memory. tiled, flash: kymo's operators
/// (ops/attention.hpp), in tensor operations and in CUDA. sdpa: LibTorch's scaled_dot_product_attention, which selects
/// its backend; sdpa_cudnn, sdpa_flash, sdpa_efficient and sdpa_math select one. `causal` masks later tokens. Throws
/// std::invalid_argument for an unknown name.
std::unique_ptr<Attention> make_attention(std::string_view name, bool causal);
/// kymo's operators with a given implementation: auto, naive, tiled or flash.
std::unique_ptr<Attention> make_operator_attention(std::string_view implementation, bool causal, bool deterministic);

/// Why an attention, including its gradient, does not support a device, type, length and head dimension; empty if it
/// does.
std::string why_unavailable(std::string_view name, const at::Device& device, at::ScalarType dtype,
                            std::int64_t sequence, std::int64_t head_dim);

/// Selects the backend of scaled_dot_product_attention. The switches are per process: use one guard at a time.
class SdpaBackend {
 public:
  /// "auto" lets LibTorch choose; cudnn, flash, efficient and math enable only that backend. Throws
  /// std::invalid_argument for other names.
  explicit SdpaBackend(std::string_view name);
  SdpaBackend(const SdpaBackend&) = delete;
  SdpaBackend& operator=(const SdpaBackend&) = delete;
  /// Restores the switches.
  ~SdpaBackend();

  static std::vector<std::string> names();
  /// The backend that LibTorch selects for these inputs with the current switches; empty if there is none.
  static std::string chosen_for(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal);

 private:
  struct Switches {
    bool flash, efficient, math, cudnn;
  };
  static Switches current();
  static void set(const Switches& switches);

  Switches before_;
};

}  // namespace kymo::transformer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::transformer {

/// The dimensions of a decoder-only Transformer language model.
struct Config {
  std::int64_t vocab_size = 10000;
  std::int64_t context = 256;  ///< the longest sequence
  std::int64_t d_model = 64;
  std::int64_t d_ff = 256;
  std::int64_t layers = 2;
  std::int64_t heads = 2;
  double rope_theta = 10000.0;
  double norm_epsilon = 1e-5;

  std::int64_t head_dim() const { return d_model / heads; }
};

/// Layers that use kymo's fused operators (ops/layers.hpp) instead of LibTorch's.
struct FusedLayers {
  bool norm = false;       ///< RMSNorm together with the addition of a branch to the residual stream
  bool swiglu = false;     ///< the activation of the feed-forward part
  bool rotary = false;     ///< rotary position embedding
  bool loss = false;       ///< head and cross entropy, without holding all logits
  bool optimizer = false;  ///< AdamW
  /// Under autocast: AdamW holds fp32 master weights of the weights of matrix products, which are bf16. Otherwise, each
  /// step casts the weights to bf16 and their gradients to fp32. Requires `optimizer`.
  bool master_weights = false;

  bool any() const { return norm || swiglu || rotary || loss || optimizer; }
};

/// The names accepted by fused_layers(): library (none), fused (all), and fused_except_norm, fused_except_swiglu,
/// fused_except_rotary, fused_except_loss, fused_except_optimizer and fused_except_master_weights (all but one; without
/// the optimizer, there are no master weights).
std::vector<std::string> fused_layers_names();
/// Throws std::invalid_argument for an unknown name.
FusedLayers fused_layers(std::string_view name);

/// The names of the predefined sizes, smallest first.
const std::vector<std::string>& size_names();

/// Sets d_model, d_ff, layers and heads to those of a predefined size. Throws std::invalid_argument for an unknown
/// name.
void set_size(Config& config, std::string_view size);

/// Throws std::invalid_argument, naming the invalid dimension and the requirement.
void validate(const Config& config);

/// Elements in all parameters: V·d (embedding) + L·(4d² + 3·d·f + 2d) + d (final norm) + V·d (head).
std::int64_t parameter_count(const Config& config);

/// Floating-point operations of the matrix multiplications of one forward pass; a multiply-add counts as two. With n =
/// batch × sequence tokens:
///   projections  L · 2n·d·4d       (query, key, value, output)
///   attention    L · 4n·t·d        (scores and weighted values over the full t×t square, as in the naive form and as
///                                  usual for MFU, even if a fused kernel skips the masked half)
///   feed-forward L · 2n·d·3f       (gate, up, down)
///   head         2n·d·V
/// The embedding is a lookup and counts as nothing. Normalization, rotary embedding, softmax and the loss are not
/// counted.
struct ForwardFlops {
  double projections = 0;
  double attention = 0;
  double feed_forward = 0;
  double head = 0;

  double total() const { return projections + attention + feed_forward + head; }
  /// Each multiplication C = A·B needs two of its size in the backward pass: dA = dC·Bᵀ and dB = Aᵀ·dC.
  double backward() const { return 2 * total(); }
};
ForwardFlops forward_flops(const Config& config, std::int64_t batch, std::int64_t sequence);

}  // namespace kymo::transformer

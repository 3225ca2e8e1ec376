// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Activation checkpointing: activations of the forward pass that are not kept, but computed again when the backward
/// pass needs them, in the phase `recompute`, with the scopes of the forward pass.
namespace kymo::transformer {

/// Which activations of a model are not kept for the backward pass.
enum class Checkpointing {
  kNone,       ///< keeps everything
  kBlocks,     ///< keeps the inputs of segments of blocks
  kNested,     ///< the same, but computes each half of the model from its input, recursively
  kSelective,  ///< keeps the results of matrix products, except attention weights, and computes the rest again
};

struct CheckpointSetting {
  Checkpointing kind = Checkpointing::kNone;
  std::int64_t blocks = 1;  ///< of the smallest segment of kBlocks and kNested
  /// Of kSelective: blocks, from the first, whose gate and up are computed again too. Their backward passes are the
  /// last ones, which find most memory free.
  std::int64_t feed_forward_blocks = 0;

  /// Whether gate and up of a block are computed again by themselves.
  bool recomputes_gate_and_up(std::size_t block) const {
    return kind == Checkpointing::kSelective && static_cast<std::int64_t>(block) < feed_forward_blocks;
  }
};

/// Returns none, blocks, nested, selective.
const std::vector<std::string>& checkpoint_names();
/// Throws std::invalid_argument for an unknown name.
Checkpointing checkpoint_named(std::string_view name);

/// Returns how many times a block is computed again in a backward pass, in total over the blocks of a model.
std::int64_t recomputed_blocks(const CheckpointSetting& setting, std::int64_t blocks);

/// A part of a forward pass. It depends only on its inputs and on parameters, and draws no random numbers, so that it
/// computes the same values again.
using Part = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

/// Runs a part and keeps only its inputs, which must be defined. The backward pass runs it again and differentiates it,
/// which adds the gradients of parameters to them. As torch.utils.checkpoint with use_reentrant=True (class
/// CheckpointFunction in torch/utils/checkpoint.py), which has no C++ interface; also under autocast and within CUDA
/// graphs. `ctx` must remain valid until the backward pass ends. Without gradients, only runs the part.
std::vector<at::Tensor> checkpointed(const Context& ctx, const std::vector<at::Tensor>& inputs, Part part);

struct DiscardedResult;

/// The only result of a part, whose memory is freed once it has been used, and which the backward pass computes again
/// before it differentiates the operator that used it. As CheckpointWithoutOutput of Megatron-LM
/// (megatron/core/tensor_parallel/random.py).
class Discardable {
 public:
  /// Runs the part. When it runs again, it does so within `scopes`, those that are open now, and is differentiated:
  /// of what the part computes, only its inputs are kept.
  Discardable(const Context& ctx, std::vector<std::string> scopes, const std::vector<at::Tensor>& inputs, Part part);

  /// `result` is that of operators that autograd differentiates themselves: only its values are restored. The part
  /// computes them without gradients, from inputs that are kept, or restored before it.
  Discardable(const Context& ctx, std::vector<std::string> scopes, at::Tensor result,
              const std::vector<at::Tensor>& inputs, Part part);

  /// A result that is kept.
  explicit Discardable(at::Tensor kept) : result_(std::move(kept)) {}

  const at::Tensor& result() const { return result_; }
  /// Frees the memory of the result, unless it is kept. `user` is the result of an operator that is differentiated
  /// before, or as the first of, those that need it. Several results with the same user are restored in the order of
  /// these calls.
  void discard_after(const at::Tensor& user);

 private:
  std::shared_ptr<DiscardedResult> discarded_;  // none if it is kept
  at::Tensor result_;
};

}  // namespace kymo::transformer

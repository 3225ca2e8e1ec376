// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "training/operator_setting.hpp"

namespace kymo::training {

/// Examples along the first dimension, and their targets.
struct Batch {
  at::Tensor input, target;
  /// The i-th of `parts` equal parts, sharing memory. The number of examples must be divisible by `parts`.
  Batch part(std::int64_t i, std::int64_t parts) const;
};

/// A model for a data-parallel step. The mean of its losses over equal parts of a batch is its loss over the whole
/// batch.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;
  /// Each parameter once, even if layers share it, in the order of the forward pass, including those that are not
  /// trained.
  virtual std::vector<at::Tensor> parameters() const = 0;
  /// Names of the parameters, in the order of parameters(). A part that contains several has a path: `block_0/down`.
  virtual std::vector<std::string> parameter_names() const = 0;
  /// Reports the uses of weights in loss() from now on; nullptr ends it.
  virtual void watch(transformer::WeightUse* use) = 0;
  virtual at::Tensor loss(const Context& ctx, const Batch& batch) = 0;
  /// Allocates uninitialized examples; fills them with random values.
  virtual Batch make_batch(std::int64_t examples) const = 0;
  virtual void draw(const Batch& batch, at::Generator& generator) const = 0;
  /// Tokens of one example, or 1.
  virtual std::int64_t tokens_per_example() const { return 1; }
  /// Floating-point operations of the matrix multiplications of a forward pass; none if negligible.
  virtual transformer::ForwardFlops forward_flops(std::int64_t /*examples*/) const { return {}; }

  /// Trained parameters, in the order of parameters().
  std::vector<at::Tensor> trained() const;
  /// Moves the fp32 master weights of the trained parameters out, in their order, undefined where a parameter has none.
  /// Empty if no parameter has one.
  std::vector<at::Tensor> take_master_weights() { return std::exchange(master_weights_, {}); }

 protected:
  std::vector<at::Tensor> master_weights_;
};

struct ModelSetting {
  std::string name = "tiny";
  std::int64_t context = 128;       ///< tokens per sequence, for Transformers
  std::int64_t vocabulary = 10000;  ///< for Transformers
  std::string attention = "naive";
  OperatorSetting operators{};  ///< of perceptrons, the data types and the optimizer
  bool tied_embedding = false;  ///< for Transformers: the head is the embedding
};

/// Returns toy, tied, frozen, and the Transformer sizes.
std::vector<std::string> model_names();
bool is_transformer(const ModelSetting& setting);
/// Total number of elements of a model's parameters. Throws std::invalid_argument for an unknown name or an invalid
/// model.
std::int64_t parameter_count(const ModelSetting& setting);
/// The dimensions of a Transformer.
transformer::Config config_of(const ModelSetting& setting);
/// Creates a model with random weights derived from the seed. Throws like parameter_count().
std::unique_ptr<TrainedModel> make_model(const ModelSetting& setting, const at::Device& device, std::uint64_t seed);

}  // namespace kymo::training

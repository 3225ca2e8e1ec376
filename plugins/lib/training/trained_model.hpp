// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <kymo/context.hpp>
#include <memory>
#include <string>
#include <vector>

namespace kymo::training {

/// Examples along the first dimension, and what the model should make of them.
struct Batch {
  at::Tensor input, target;
  /// The i-th of `parts` equal parts, sharing memory. The examples must be divisible by `parts`.
  Batch part(std::int64_t i, std::int64_t parts) const;
};

/// A model that a data-parallel step trains. The mean of its loss over equal parts of a batch is its loss over the
/// whole batch.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;
  /// Each parameter once, also if layers share it, in the order of the forward pass; those that are not trained too.
  virtual std::vector<at::Tensor> parameters() const = 0;
  virtual at::Tensor loss(const Context& ctx, const Batch& batch) = 0;
  /// Uninitialised room for examples, and random ones for it.
  virtual Batch make_batch(std::int64_t examples) const = 0;
  virtual void draw(const Batch& batch, at::Generator& generator) const = 0;
  /// Tokens of one example, or 1.
  virtual std::int64_t tokens_per_example() const { return 1; }
  /// Floating-point operations of the matrix products of a forward pass, 0 if not worth declaring; a backward pass does
  /// twice as many.
  virtual double forward_flops(std::int64_t /*examples*/) const { return 0; }

  /// Those that are trained, in the order of parameters().
  std::vector<at::Tensor> trained() const;
};

struct ModelSetting {
  std::string name = "tiny";
  std::int64_t context = 128;       ///< tokens of a sequence, for Transformers
  std::int64_t vocabulary = 10000;  ///< likewise
  std::string attention = "naive";
};

/// toy, tied, frozen, and the sizes of the Transformer.
std::vector<std::string> model_names();
/// How many elements the parameters of a model have. Throws std::invalid_argument for an unknown name or an impossible
/// model.
std::int64_t parameter_count(const ModelSetting& setting);
/// Random weights that follow from the seed. Throws like parameter_count().
std::unique_ptr<TrainedModel> make_model(const ModelSetting& setting, const at::TensorOptions& options,
                                         std::uint64_t seed);

}  // namespace kymo::training

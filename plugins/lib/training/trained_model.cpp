// SPDX-License-Identifier: Apache-2.0
#include "training/trained_model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/relu.h>

#include <cmath>
#include <kymo/torch.hpp>
#include <utility>

#include "transformer/model.hpp"

namespace kymo::training {
namespace {

/// Linear layers without bias, with a ReLU between two layers, over features that are first scaled by a constant
/// parameter, which is never trained. The layer structure covers the cases that a data-parallel strategy must handle.
class Perceptron final : public TrainedModel {
 public:
  /// Layer widths. Layer `tied` (if >= 0) uses the weight of the layer two before it; layer `frozen` (if >= 0) is not
  /// trained.
  Perceptron(std::vector<std::int64_t> widths, int tied, int frozen, const OperatorSetting& operators,
             const at::Device& device, std::uint64_t seed)
      : options_(at::TensorOptions().dtype(operators.dtype).device(device)),
        outputs_(widths.back()),
        scale_(at::full({widths.front()}, 2.0, options_)) {
    at::Generator generator = libtorch::make_generator(device, seed);
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      if (static_cast<int>(i) == tied) {
        layers_.push_back(layers_[i - 2]);
        continue;
      }
      const double bound = 1.0 / std::sqrt(static_cast<double>(widths[i]));
      layers_.push_back(at::empty({widths[i + 1], widths[i]}, options_).uniform_(-bound, bound, generator));
      layers_.back().requires_grad_(static_cast<int>(i) != frozen);
    }
    // Under autocast, the weights remain fp32 and are cast.
    if (operators.has_master_weights() && !operators.autocast)
      for (const at::Tensor& parameter : trained()) master_weights_.push_back(parameter.detach().to(at::kFloat));
  }

  std::vector<at::Tensor> parameters() const override {
    std::vector<at::Tensor> all{scale_};
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (i < 2 || !layers_[i].is_same(layers_[i - 2])) all.push_back(layers_[i]);
    return all;
  }

  std::vector<std::string> parameter_names() const override {
    std::vector<std::string> names{"scale"};
    for (std::size_t i = 0; i < parameters().size() - 1; ++i) names.push_back("layer_" + std::to_string(i));
    return names;
  }
  void watch(transformer::WeightUse* use) override { use_ = use; }

  at::Tensor loss(const Context& ctx, const Batch& batch) override {
    at::Tensor values = batch.input * scale_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      auto scope = ctx.scope("layer");
      values = transformer::linear(i > 0 ? at::relu(values) : values, layers_[i], use_);
    }
    auto scope = ctx.scope("loss");
    return at::mse_loss(values, batch.target.to(values.scalar_type()));
  }

  Batch make_batch(std::int64_t examples) const override {
    return {at::empty({examples, scale_.numel()}, options_), at::empty({examples, outputs_}, options_)};
  }
  void draw(const Batch& batch, at::Generator& generator) const override {
    batch.input.normal_(0, 1, generator);
    batch.target.normal_(0, 1, generator);
  }

 private:
  at::TensorOptions options_;
  std::int64_t outputs_;
  at::Tensor scale_;
  std::vector<at::Tensor> layers_;
  transformer::WeightUse* use_ = nullptr;
};

class Language final : public TrainedModel {
 public:
  Language(const transformer::Config& config, const ModelSetting& setting, const TrainedWeights& weights)
      : device_(weights.model.norm.device()),
        model_(config, weights.model, setting.attention, setting.operators.fused, setting.operators.checkpoint) {
    master_weights_ = training::master_weights(weights);
    if (setting.tied_embedding && !master_weights_.empty()) master_weights_.pop_back();
  }

  std::vector<at::Tensor> parameters() const override {
    std::vector<at::Tensor> all = transformer::parameters(model_.weights());
    if (all.back().is_same(all.front())) all.pop_back();
    return all;
  }
  std::vector<std::string> parameter_names() const override {
    std::vector<std::string> names = transformer::parameter_names(model_.weights());
    names.resize(parameters().size());
    return names;
  }
  void watch(transformer::WeightUse* use) override { model_.watch(use); }
  at::Tensor loss(const Context& ctx, const Batch& batch) override {
    return model_.loss(ctx, batch.input, batch.target);
  }

  Batch make_batch(std::int64_t examples) const override {
    const auto options = at::TensorOptions().dtype(at::kLong).device(device_);
    return {at::empty({examples, tokens_per_example()}, options), at::empty({examples, tokens_per_example()}, options)};
  }
  void draw(const Batch& batch, at::Generator& generator) const override {
    const std::int64_t last = tokens_per_example() - 1, vocabulary = model_.config().vocab_size;
    batch.input.random_(0, vocabulary, generator);
    // Each token's target is the next one.
    batch.target.narrow(1, 0, last).copy_(batch.input.narrow(1, 1, last));
    batch.target.select(1, last).random_(0, vocabulary, generator);
  }
  std::int64_t tokens_per_example() const override { return model_.config().context; }
  transformer::ForwardFlops forward_flops(std::int64_t examples) const override {
    return transformer::forward_flops(model_.config(), examples, tokens_per_example());
  }

 private:
  at::Device device_;
  transformer::LanguageModel model_;
};

struct Layers {
  std::vector<std::int64_t> widths;  ///< none for a Transformer
  int tied = -1, frozen = -1;
};

Layers layers_of(const std::string& name) {
  if (name == "toy") return {{10, 10, 50, 5}};
  if (name == "tied") return {{10, 10, 50, 10, 50, 5}, 3};
  if (name == "frozen") return {{10, 10, 50, 5}, -1, 1};
  return {};
}

}  // namespace

Batch Batch::part(std::int64_t i, std::int64_t parts) const {
  const std::int64_t examples = input.size(0) / parts;
  return {input.narrow(0, i * examples, examples), target.narrow(0, i * examples, examples)};
}

std::vector<at::Tensor> TrainedModel::trained() const {
  std::vector<at::Tensor> found;
  for (at::Tensor& parameter : parameters())
    if (parameter.requires_grad()) found.push_back(std::move(parameter));
  return found;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names{"toy", "tied", "frozen"};
  for (const std::string& size : transformer::size_names()) names.push_back(size);
  return names;
}

bool is_transformer(const ModelSetting& setting) { return layers_of(setting.name).widths.empty(); }

std::int64_t parameter_count(const ModelSetting& setting) {
  const Layers layers = layers_of(setting.name);
  if (layers.widths.empty()) return transformer::parameter_count(config_of(setting));
  std::int64_t count = layers.widths.front();
  for (std::size_t i = 0; i + 1 < layers.widths.size(); ++i)
    if (static_cast<int>(i) != layers.tied) count += layers.widths[i] * layers.widths[i + 1];
  return count;
}

transformer::Config config_of(const ModelSetting& setting) {
  transformer::Config config;
  transformer::set_size(config, setting.name);
  config.context = setting.context;
  config.vocab_size = setting.vocabulary;
  transformer::validate(config);
  return config;
}

std::unique_ptr<TrainedModel> make_model(const ModelSetting& setting, const at::Device& device, std::uint64_t seed) {
  Layers layers = layers_of(setting.name);
  if (!layers.widths.empty())
    return std::make_unique<Perceptron>(std::move(layers.widths), layers.tied, layers.frozen, setting.operators, device,
                                        seed);
  const transformer::Config config = config_of(setting);
  TrainedWeights weights =
      make_trained_weights(config, setting.operators, device, libtorch::make_generator(device, seed));
  if (setting.tied_embedding)
    for (transformer::Weights* each : {&weights.model, &weights.exact}) each->head = each->embedding;
  return std::make_unique<Language>(config, setting, weights);
}

}  // namespace kymo::training

// SPDX-License-Identifier: Apache-2.0
#include "transformer/config.hpp"

#include <array>
#include <stdexcept>

namespace kymo::transformer {
namespace {

struct Size {
  std::string_view name;
  std::int64_t d_model, d_ff, layers, heads;
};

constexpr std::array<Size, 8> kSizes{{{"tiny", 64, 256, 2, 2},
                                      {"small", 768, 3072, 12, 12},
                                      {"medium", 1024, 4096, 24, 16},
                                      {"large", 1280, 5120, 36, 20},
                                      {"xl", 1600, 6400, 48, 25},
                                      {"2.7B", 2560, 10240, 32, 32},
                                      {"8B", 4096, 11008, 34, 32},
                                      {"10B", 4608, 12288, 50, 36}}};

struct Layer {
  std::string_view name;
  bool FusedLayers::* is_fused;
};

constexpr std::array<Layer, 6> kLayers{{{"norm", &FusedLayers::norm},
                                        {"swiglu", &FusedLayers::swiglu},
                                        {"rotary", &FusedLayers::rotary},
                                        {"loss", &FusedLayers::loss},
                                        {"optimizer", &FusedLayers::optimizer},
                                        {"master_weights", &FusedLayers::master_weights}}};
constexpr std::string_view kAllButOne = "fused_except_";

void require_positive(std::int64_t value, std::string_view name) {
  if (value >= 1) return;
  throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) + "; it must be at least 1");
}

}  // namespace

std::vector<std::string> fused_layers_names() {
  std::vector<std::string> names{"library", "fused"};
  for (const Layer& layer : kLayers) names.push_back(std::string(kAllButOne) + std::string(layer.name));
  return names;
}

FusedLayers fused_layers(std::string_view name) {
  constexpr FusedLayers kAll{
      .norm = true, .swiglu = true, .rotary = true, .loss = true, .optimizer = true, .master_weights = true};
  if (name == "library") return {};
  if (name == "fused") return kAll;
  for (const Layer& layer : kLayers) {
    if (name != std::string(kAllButOne) + std::string(layer.name)) continue;
    FusedLayers all_but_one = kAll;
    all_but_one.*layer.is_fused = false;
    all_but_one.master_weights = all_but_one.master_weights && all_but_one.optimizer;
    return all_but_one;
  }
  std::string known;
  for (const std::string& each : fused_layers_names()) known += (known.empty() ? "" : ", ") + each;
  throw std::invalid_argument("unknown layers '" + std::string(name) + "', must be one of " + known);
}

const std::vector<std::string>& size_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Size& size : kSizes) all.emplace_back(size.name);
    return all;
  }();
  return names;
}

void set_size(Config& config, std::string_view name) {
  for (const Size& size : kSizes) {
    if (size.name != name) continue;
    config.d_model = size.d_model;
    config.d_ff = size.d_ff;
    config.layers = size.layers;
    config.heads = size.heads;
    return;
  }
  std::string known;
  for (const Size& size : kSizes) known += (known.empty() ? "" : ", ") + std::string(size.name);
  throw std::invalid_argument("unknown model size '" + std::string(name) + "', must be one of " + known);
}

void validate(const Config& config) {
  require_positive(config.vocab_size, "vocab_size");
  require_positive(config.context, "context");
  require_positive(config.d_model, "d_model");
  require_positive(config.d_ff, "d_ff");
  require_positive(config.layers, "layers");
  require_positive(config.heads, "heads");
  if (config.d_model % config.heads != 0)
    throw std::invalid_argument("d_model " + std::to_string(config.d_model) + " is not divisible by heads " +
                                std::to_string(config.heads) + "; all heads have the same dimension");
  if (config.head_dim() % 2 != 0)
    throw std::invalid_argument("d_model / heads is " + std::to_string(config.head_dim()) +
                                "; it must be even for rotary embeddings");
}

std::int64_t parameter_count(const Config& config) {
  const std::int64_t d = config.d_model;
  const std::int64_t per_layer = 4 * d * d + 3 * d * config.d_ff + 2 * d;
  return 2 * config.vocab_size * d + config.layers * per_layer + d;
}

ForwardFlops forward_flops(const Config& config, std::int64_t batch, std::int64_t sequence) {
  const double tokens = static_cast<double>(batch) * static_cast<double>(sequence);
  const auto d = static_cast<double>(config.d_model);
  const auto layers = static_cast<double>(config.layers);
  return {.projections = layers * 2 * tokens * d * 4 * d,
          .attention = layers * 4 * tokens * static_cast<double>(sequence) * d,
          .feed_forward = layers * 2 * tokens * d * 3 * static_cast<double>(config.d_ff),
          .head = 2 * tokens * d * static_cast<double>(config.vocab_size)};
}

}  // namespace kymo::transformer

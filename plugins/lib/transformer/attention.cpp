// SPDX-License-Identifier: Apache-2.0
#include "transformer/attention.hpp"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ops/attention.hpp"
#include "transformer/checkpoint.hpp"

namespace kymo::transformer {
namespace {

class NaiveAttention final : public Attention {
 public:
  explicit NaiveAttention(bool causal) : causal_(causal) {}

  Layout layout() const override { return Layout::kHeadsFirst; }

  at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key,
                   const at::Tensor& value) override {
    const auto batch = query.size(0), heads = query.size(1), length = query.size(2), width = query.size(3);
    const std::vector<std::int64_t> flat{batch * heads, length, width};
    const Part weigh = [this, ctx](const std::vector<at::Tensor>& inputs) {
      const at::Tensor scores = multiply(ctx, inputs[0], inputs[1]);  // autograd saves the weights, not the scores
      auto scope = ctx.scope("softmax");
      return std::vector{at::softmax(scores, -1)};
    };
    const std::vector inputs{query.reshape(flat), key.reshape(flat)};
    std::vector<std::string> scopes = std::exchange(scopes_, {});
    Discardable weights =
        scopes.empty() ? Discardable(weigh(inputs).front()) : Discardable(ctx, std::move(scopes), inputs, weigh);
    auto scope = ctx.scope("values");
    const at::Tensor mixed = at::bmm(weights.result(), value.reshape(flat));
    weights.discard_after(mixed);
    return mixed.view({batch, heads, length, width});
  }

  void recompute_in(std::vector<std::string> scopes) override { scopes_ = std::move(scopes); }

 private:
  at::Tensor multiply(const Context& ctx, const at::Tensor& query, const at::Tensor& key) {
    auto scope = ctx.scope("scores");
    // Scaling the query costs length × head_dim, whereas scaling the scores would cost length².
    at::Tensor scores = at::bmm(query.mul(1 / std::sqrt(static_cast<double>(query.size(-1)))), key.transpose(-2, -1));
    // Adding −∞ in place takes no memory, and nothing at all in the backward pass: a masked weight is 0, and so is its
    // gradient.
    if (causal_) scores.add_(mask(scores));
    return scores;
  }

  const at::Tensor& mask(const at::Tensor& scores) {
    const auto length = scores.size(-1);
    if (!mask_.defined() || mask_.size(0) != length || mask_.scalar_type() != scores.scalar_type() ||
        mask_.device() != scores.device()) {
      mask_.reset();
      mask_ =
          at::full({length, length}, -std::numeric_limits<double>::infinity(), scores.options().requires_grad(false))
              .triu_(1);
    }
    return mask_;
  }

  bool causal_;
  std::vector<std::string> scopes_;  // of the next call, if it discards the weights
  at::Tensor mask_;                  // [sequence, sequence], 0 where visible and −∞ elsewhere
};

class SdpaAttention final : public Attention {
 public:
  SdpaAttention(std::string_view backend, bool causal) : backend_(backend), causal_(causal) {}

  Layout layout() const override { return Layout::kTokensFirst; }

  at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key,
                   const at::Tensor& value) override {
    auto scope = ctx.scope("sdpa");
    // The backward pass uses the kernel that was selected here; the switches no longer matter.
    const SdpaBackend allowed(backend_);
    return at::scaled_dot_product_attention(query, key, value, {}, 0.0, causal_);
  }

 private:
  std::string backend_;
  bool causal_;
};

class OperatorAttention final : public Attention {
 public:
  explicit OperatorAttention(ops::AttentionOptions options) : options_(std::move(options)) {}

  Layout layout() const override { return Layout::kTokensFirst; }

  at::Tensor apply(const Context& ctx, const at::Tensor& query, const at::Tensor& key,
                   const at::Tensor& value) override {
    auto scope = ctx.scope("flash_attention");
    return ops::attention(query, key, value, options_);
  }

 private:
  ops::AttentionOptions options_;
};

constexpr std::string_view kSdpaPrefix = "sdpa_";

/// The backend in a name such as sdpa_cudnn; auto for sdpa itself; empty for other names.
std::string backend_of(std::string_view name) {
  if (name == "sdpa") return "auto";
  if (!name.starts_with(kSdpaPrefix)) return "";
  return std::string(name.substr(kSdpaPrefix.size()));
}

std::vector<std::string> all_names() {
  std::vector<std::string> names{"naive", "tiled", "flash", "sdpa"};
  for (const std::string& backend : SdpaBackend::names())
    if (backend != "auto") names.push_back(std::string(kSdpaPrefix) + backend);
  return names;
}

std::string text_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool is_known(std::string_view name) {
  const std::vector<std::string>& names = attention_names();
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

AttentionFlops attention_flops(double scores, std::int64_t head_dim) {
  const double product = 2 * scores * static_cast<double>(head_dim);
  return {.scores = product, .softmax = 5 * scores, .values = product};
}

void report(const Context& ctx, const AttentionFlops& flops) {
  ctx.metric("attention_scores_flops", flops.scores, "FLOP");
  ctx.metric("attention_softmax_flops", flops.softmax, "FLOP");
  ctx.metric("attention_values_flops", flops.values, "FLOP");
}

const std::vector<std::string>& attention_names() {
  static const std::vector<std::string> names = all_names();
  return names;
}

std::unique_ptr<Attention> make_attention(std::string_view name, bool causal) {
  if (name == "naive") return std::make_unique<NaiveAttention>(causal);
  if (name == "tiled" || name == "flash") return make_operator_attention(name, causal, /*deterministic=*/false);
  if (is_known(name)) return std::make_unique<SdpaAttention>(backend_of(name), causal);
  throw std::invalid_argument("unknown attention '" + std::string(name) + "', must be one of " +
                              text_of(attention_names()));
}

std::unique_ptr<Attention> make_operator_attention(std::string_view implementation, bool causal, bool deterministic) {
  return std::make_unique<OperatorAttention>(ops::AttentionOptions{
      .causal = causal, .implementation = std::string(implementation), .deterministic = deterministic});
}

std::string why_unavailable(std::string_view name, const at::Device& device, at::ScalarType dtype,
                            std::int64_t sequence, std::int64_t head_dim) {
  if (device.is_meta()) return "";  // unknown without the device
  const at::Tensor like = at::empty({1, sequence, 1, head_dim}, at::TensorOptions().dtype(dtype).device(device))
                              .transpose(1, 2)
                              .requires_grad_(true);
  if (name == "flash") return ops::why_not_flash(like, like, like, {.causal = true});
  const std::string backend = backend_of(name);
  if (backend.empty() || backend == "auto") return "";
  const SdpaBackend allowed(backend);
  if (SdpaBackend::chosen_for(like, like, like, /*causal=*/true) == backend) return "";
  return "LibTorch has no " + backend + " attention for " + std::string(c10::toString(dtype)) + ", head_dim " +
         std::to_string(head_dim) + " on " + device.str();
}

std::vector<std::string> SdpaBackend::names() { return {"auto", "cudnn", "flash", "efficient", "math"}; }

SdpaBackend::Switches SdpaBackend::current() {
  const at::Context& torch = at::globalContext();
  return {torch.userEnabledFlashSDP(), torch.userEnabledMemEfficientSDP(), torch.userEnabledMathSDP(),
          torch.userEnabledCuDNNSDP()};
}

void SdpaBackend::set(const Switches& switches) {
  at::Context& torch = at::globalContext();
  torch.setSDPUseFlash(switches.flash);
  torch.setSDPUseMemEfficient(switches.efficient);
  torch.setSDPUseMath(switches.math);
  torch.setSDPUseCuDNN(switches.cudnn);
}

SdpaBackend::SdpaBackend(std::string_view name) : before_(current()) {
  static const std::vector<std::string> known = names();
  if (std::ranges::find(known, name) == known.end())
    throw std::invalid_argument("unknown attention backend '" + std::string(name) +
                                "', must be one of auto, cudnn, flash, efficient, math");
  if (name == "auto") return;
  set({.flash = name == "flash", .efficient = name == "efficient", .math = name == "math", .cudnn = name == "cudnn"});
}

SdpaBackend::~SdpaBackend() { set(before_); }

std::string SdpaBackend::chosen_for(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                    bool causal) {
  std::int64_t choice = static_cast<std::int64_t>(at::SDPBackend::error);
  try {
    choice = at::_fused_sdp_choice(query, key, value, {}, 0.0, causal);
  } catch (const c10::Error&) {
    return "";  // LibTorch throws if no enabled backend supports the inputs
  }
  switch (static_cast<at::SDPBackend>(choice)) {
    case at::SDPBackend::math:
      return "math";
    case at::SDPBackend::flash_attention:
      return "flash";
    case at::SDPBackend::efficient_attention:
      return "efficient";
    case at::SDPBackend::cudnn_attention:
      return "cudnn";
    case at::SDPBackend::overrideable:
      return "overrideable";
    case at::SDPBackend::error:
      break;
  }
  return "";
}

}  // namespace kymo::transformer

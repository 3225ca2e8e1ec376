// SPDX-License-Identifier: Apache-2.0
#include "training/language_model.hpp"

#include <kymo/torch.hpp>
#include <stdexcept>

#include "transformer/attention.hpp"

namespace kymo::training {
namespace {

/// A dimension that is set explicitly overrides that of the size.
void override_dimension(const Context& ctx, const char* name, bool custom, std::int64_t& dimension) {
  const std::int64_t given = ctx.integer(name);
  if (given > 0) dimension = given;
  if (given == 0 && custom)
    throw std::invalid_argument(std::string(name) + " is 0; size=custom needs d_model, d_ff, layers and heads");
}

/// Bytes that an update of one element moves. Under autocast with master weights, as many as with fp32 weights: a bf16
/// gradient is read and a bf16 weight is written, instead of an fp32 gradient.
double update_bytes(const LanguageModelSetting& setting) {
  constexpr double kMoments = 4;  // two, read and written
  const auto element_bytes = static_cast<double>(c10::elementSize(setting.dtype));
  if (setting.master_weights) return (kAdamWTransfersPerElement - 1) * sizeof(float) + 2 * element_bytes;
  if (setting.fp32_moments) return kMoments * sizeof(float) + (kAdamWTransfersPerElement - kMoments) * element_bytes;
  return kAdamWTransfersPerElement * element_bytes;
}

void declare_work(const Context& ctx, const LanguageModelSetting& setting, const transformer::ForwardFlops& forward,
                  double elements) {
  const bool has_backward = setting.mode != Mode::kForward;
  const PhaseFlops flops = phase_flops(forward, has_backward, setting.fused.loss);
  const bool updates = setting.mode == Mode::kTrain;
  ctx.work("forward", flops.forward, 0);
  if (has_backward) ctx.work("backward", flops.backward, 0);
  if (updates) ctx.work("optimizer", elements * kAdamWFlopsPerElement, elements * update_bytes(setting));
}

}  // namespace

std::vector<std::string> size_choices() {
  std::vector<std::string> names = transformer::size_names();
  names.push_back("custom");
  return names;
}

transformer::Config read_model(const Context& ctx, std::int64_t vocab_size) {
  transformer::Config config;
  const std::string size = ctx.text("size");
  const bool custom = size == "custom";
  if (!custom) transformer::set_size(config, size);
  config.vocab_size = vocab_size;
  config.context = ctx.integer("context");
  override_dimension(ctx, "d_model", custom, config.d_model);
  override_dimension(ctx, "d_ff", custom, config.d_ff);
  override_dimension(ctx, "layers", custom, config.layers);
  override_dimension(ctx, "heads", custom, config.heads);
  transformer::validate(config);
  return config;
}

void skip_unless_supported(const Context& ctx, const LanguageModelSetting& setting, const std::string& optimizer) {
  if (setting.graph && !ctx.is_cuda()) ctx.skip("execution=graph requires device=cuda");
  skip_unless_supported(ctx, static_cast<const OperatorSetting&>(setting), optimizer);
  // Under autocast, attention receives the output type of the projections.
  const std::string reason = transformer::why_unavailable(setting.attention, libtorch::select_device(ctx),
                                                          setting.autocast.value_or(setting.dtype),
                                                          setting.model.context, setting.model.head_dim());
  if (!reason.empty()) ctx.skip("attention=" + setting.attention + " is not supported: " + reason);
}

void report_attention(const Context& ctx, const transformer::Config& model, std::int64_t batch) {
  const auto scores = static_cast<double>(model.layers * model.heads * batch) * static_cast<double>(model.context) *
                      static_cast<double>(model.context);
  transformer::report(ctx, transformer::attention_flops(scores, model.head_dim()));
}

void declare_language_model(const Context& ctx, const LanguageModelSetting& setting) {
  const transformer::Config& model = setting.model;
  const auto flops = transformer::forward_flops(model, setting.batch, model.context);
  const auto elements = static_cast<double>(transformer::parameter_count(model));
  const auto tokens = static_cast<double>(setting.batch * model.context);
  const auto element_bytes = static_cast<double>(c10::elementSize(setting.dtype));
  declare_work(ctx, setting, flops, elements);
  if (setting.mode != Mode::kForward) report_recomputation(ctx, setting, flops, model.layers, setting.attention);
  ctx.metric("parameters", elements);
  ctx.metric("d_model", static_cast<double>(model.d_model));
  ctx.metric("d_ff", static_cast<double>(model.d_ff));
  ctx.metric("layers", static_cast<double>(model.layers));
  ctx.metric("heads", static_cast<double>(model.heads));
  ctx.metric("tokens_per_step", tokens, "tokens");
  ctx.metric("attention_flops_share", flops.attention / flops.total());
  report_attention(ctx, model, setting.batch);
  ctx.metric("residual_stream_bytes", tokens * static_cast<double>(model.d_model) * element_bytes, "B");
}

}  // namespace kymo::training

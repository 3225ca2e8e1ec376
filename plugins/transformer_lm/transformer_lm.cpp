// SPDX-License-Identifier: Apache-2.0
// Full training step of a language model: forward with loss, backward, AdamW.
#include "transformer_lm.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <kymo/torch.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <optional>

#include "training/fused_adamw.hpp"
#include "training/step.hpp"
#include "transformer/model.hpp"

namespace {

namespace training = kymo::training;
namespace transformer = kymo::transformer;
using kymo::Block;
using kymo::Context;

class TransformerLm final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() { return describe_settings(); }

  ~TransformerLm() noexcept(false) override {
    if (steps_ == 1) report_loss(*ctx_, "loss_first", loss_);
    if (steps_ > 0) report_loss(*ctx_, "loss_last", loss_);
  }

  void prepare(Context& ctx) override {
    ctx_ = ctx;
    settings_ = read_settings(ctx);
    device_ = kymo::libtorch::select_device(ctx);
    generator_ = kymo::libtorch::make_generator(device_, ctx.seed());
    make_model(ctx);
    if (settings_.mode == training::Mode::kTrain) make_optimizer(ctx);
    make_batch(ctx);
    declare(ctx);
    if (settings_.graph) make_graph(ctx);
  }

  void before_step(Context& ctx) override {
    if (steps_ == 1) report_loss(ctx, "loss_first", loss_);
    drawn_.random_(0, settings_.model.vocab_size, generator_);
    tokens_.copy_(drawn_.narrow(1, 0, settings_.model.context));
    targets_.copy_(drawn_.narrow(1, 1, settings_.model.context));
  }

  void step(Context& ctx) override {
    // The loss stays on the device: reading it would synchronize.
    loss_ = graph_ ? graph_->run_step(ctx) : training::run_step(ctx, parts_);
    ++steps_;
    if (!ctx.host()->tag) return;
    for (const at::Tensor& parameter : parts_.parameters) kymo::libtorch::tag(ctx, parameter.grad(), Block::Gradient);
  }

  kymo::Verification verify(Context& ctx) override { return verify_transformer(ctx, settings_, device_); }

 private:
  void make_model(Context& ctx) {
    const auto options = at::TensorOptions().dtype(settings_.dtype).device(device_);
    model_ = std::make_unique<transformer::LanguageModel>(
        settings_.model, transformer::make_weights(settings_.model, options, generator_), settings_.attention);
    parts_.mode = settings_.mode;
    parts_.autocast = settings_.autocast;
    parts_.parameters = transformer::parameters(model_->weights());
    parts_.loss = [this](const Context& seen_by) { return model_->loss(seen_by, tokens_, targets_); };
    for (const at::Tensor& parameter : parts_.parameters) kymo::libtorch::tag(ctx, parameter, Block::Parameter);
    ctx.mark("model_ready");
  }

  void make_optimizer(Context& ctx) {
    optimizer_ = training::make_fused_adamw(ctx, parts_.parameters, 1e-4);
    parts_.optimizer = optimizer_.get();
    parts_.optimizer_scope = "adamw";
    ctx.mark("optimizer_ready");
  }

  void make_batch(Context& ctx) {
    const auto options = at::TensorOptions().dtype(at::kLong).device(device_);
    drawn_ = at::empty({settings_.batch, settings_.model.context + 1}, options);
    // Token 0 until a batch is drawn: valid input for a graph's warm-up.
    tokens_ = at::zeros({settings_.batch, settings_.model.context}, options);
    targets_ = at::zeros({settings_.batch, settings_.model.context}, options);
    for (const at::Tensor& tensor : {drawn_, tokens_, targets_}) kymo::libtorch::tag(ctx, tensor, Block::Input);
  }

  void make_graph(Context& ctx) {
    graph_ = std::make_unique<training::StepGraph>(device_, parts_);
    graph_->warm_up(ctx);
    if (optimizer_) optimizer_->warm_up();
    ctx.mark("graph_warm");
  }

  void declare(Context& ctx) const {
    const auto flops = transformer::forward_flops(settings_.model, settings_.batch, settings_.model.context);
    const auto elements = static_cast<double>(transformer::parameter_count(settings_.model));
    const auto tokens = static_cast<double>(settings_.batch * settings_.model.context);
    const auto element_bytes = static_cast<double>(c10::elementSize(settings_.dtype));
    declare_work(ctx, flops, elements, element_bytes);
    ctx.metric("parameters", elements);
    ctx.metric("d_model", static_cast<double>(settings_.model.d_model));
    ctx.metric("d_ff", static_cast<double>(settings_.model.d_ff));
    ctx.metric("layers", static_cast<double>(settings_.model.layers));
    ctx.metric("heads", static_cast<double>(settings_.model.heads));
    ctx.metric("tokens_per_step", tokens, "tokens");
    ctx.metric("attention_flops_share", flops.attention / flops.total());
    const auto context = static_cast<double>(settings_.model.context);
    const double scores = static_cast<double>(settings_.model.layers * settings_.model.heads) * tokens * context;
    transformer::report(ctx, transformer::attention_flops(scores, settings_.model.head_dim()));
    ctx.metric("residual_stream_bytes", tokens * static_cast<double>(settings_.model.d_model) * element_bytes, "B");
  }

  void declare_work(Context& ctx, const transformer::ForwardFlops& forward, double elements,
                    double element_bytes) const {
    const double backward = settings_.mode == training::Mode::kForward ? 0 : forward.backward();
    const bool updates = settings_.mode == training::Mode::kTrain;
    const double update = updates ? elements * training::kAdamWFlopsPerElement : 0;
    if (settings_.graph) {  // once: phases add up to the step, and a replay covers all of it
      ctx.work("replay", forward.total() + backward + update, 0);
      return;
    }
    ctx.work("forward", forward.total(), 0);
    if (backward > 0) ctx.work("backward", backward, 0);
    if (updates) ctx.work("optimizer", update, elements * element_bytes * training::kAdamWTransfersPerElement);
  }

  static void report_loss(const Context& ctx, const char* name, const at::Tensor& loss) {
    ctx.metric(name, loss.item<double>(), "nat");
  }

  std::optional<Context> ctx_;
  Settings settings_;
  at::Device device_{at::kCPU};
  at::Generator generator_;
  std::unique_ptr<transformer::LanguageModel> model_;
  std::unique_ptr<training::FusedAdamW> optimizer_;
  training::StepDefinition parts_;
  std::unique_ptr<training::StepGraph> graph_;  // none in eager execution
  at::Tensor drawn_, tokens_, targets_;         // [batch, context + 1], and its first and last `context` columns
  at::Tensor loss_;
  std::int64_t steps_ = 0;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(TransformerLm)

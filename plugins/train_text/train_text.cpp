// SPDX-License-Identifier: Apache-2.0
// Trains a byte-level language model on text: the loader, forward, backward and AdamW.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/optim/adamw.h>

#include <cstdio>
#include <kymo/torch.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "loader.hpp"
#include "text.hpp"
#include "training/fused_adamw.hpp"
#include "training/language_model.hpp"
#include "training/step.hpp"
#include "transformer/attention.hpp"
#include "transformer/model.hpp"

namespace {

namespace training = kymo::training;
namespace transformer = kymo::transformer;
using kymo::Block;
using kymo::Context;

constexpr std::int64_t kByteValues = 256;

class TrainText final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    using kymo::Bool, kymo::Choice, kymo::Int, kymo::Real, kymo::Text;
    return kymo::Descriptor{"train_text",
                            "training of a byte-level decoder-only Transformer on text, by default the sources of "
                            "Python's standard library; every step continues the training, and the loss on held-out "
                            "text decides whether it succeeded"}
        .title("")
        .family("text_training")
        .param("size", Choice{"tiny", training::size_choices()}.setting(),
               "preset for d_model, d_ff, layers and heads; custom requires setting them individually")
        .param("context", Int{128}.at_least(1).unit("bytes").setting(), "sequence length")
        .param("d_model", Int{0}.at_least(0).setting(), "model dimension; 0 uses the preset's")
        .param("d_ff", Int{0}.at_least(0).setting(), "feed-forward dimension; 0 uses the preset's")
        .param("layers", Int{0}.at_least(0).setting(), "number of blocks; 0 uses the preset's")
        .param("heads", Int{0}.at_least(0).setting(),
               "number of attention heads, must divide d_model; 0 uses the preset's")
        .param("batch", Int{16}.at_least(1).unit("sequences").setting(), "batch size")
        .param("learning_rate", Real{1e-3}.at_least(0).setting(), "learning rate of AdamW after its warm-up")
        .param("lr_warmup", Int{20}.at_least(0).unit("steps").setting(),
               "steps over which the learning rate increases linearly, counted from the first step of the run")
        .param(
            "target_loss", Real{0}.at_least(0).unit("nat").setting(),
            "the run fails if the loss on held-out text is higher after the last step of the time pass; 0: no target")
        .param("text", Text{""}.setting(),
               "folder of the Python sources to train on; empty: the standard library of the python3 on PATH")
        .param("text_bytes", Int{8'000'000}.at_least(1).unit("bytes").setting(),
               "how much of the text is used; the last 5 % are held out from training")
        .param("validation_batches", Int{8}.at_least(1).setting(),
               "batches of the held-out text, evenly spaced, on which the loss is validated")
        .param("validate_every", Int{25}.at_least(0).unit("steps").setting(),
               "number of steps between validations, which are not timed; 0: only after the last step")
        .param("attention",
               Choice{"naive", transformer::attention_names()}.axis({"naive", "sdpa"}).title("{} attention"),
               "implementation of attention, as in transformer_lm; the run is skipped if it is not supported")
        .param("operators", training::operators_choice(), training::kOperatorsText)
        .param("checkpoint", training::checkpoint_choice(), training::kCheckpointText)
        .param("checkpoint_blocks", training::checkpoint_blocks(), training::kCheckpointBlocksText)
        .param("checkpoint_feed_forward", training::checkpoint_feed_forward(), training::kCheckpointFeedForwardText)
        .param("dtype", Choice{"fp32", kymo::libtorch::dtype_names()}.title("{} weights"),
               "data type of weights, gradients and optimizer state")
        .param("optimizer_state", training::optimizer_state_choice(), training::kOptimizerStateText)
        .param("optimizer", Choice{"plain", {"plain", "fused"}}.axis({"plain", "fused"}).title("{} optimizer"),
               "AdamW in several operators for each parameter, or in a few kernels for all parameters. Kymo's kernel, "
               "the fp32 optimizer state and master weights are those of optimizer=fused with operators=fused")
        .param("prefetch", Bool{false}.title("prefetch"),
               "prepare the next batch in a thread while the step runs; otherwise the phase data does it")
        .param("autocast", Bool{false}.title("autocast bf16"), training::kAutocastText)
        .param("execution", Choice{"eager", {"eager", "graph"}}.axis({"eager", "graph"}).title("CUDA {}"),
               "eager, or graph: replay the step as a CUDA graph (device=cuda and optimizer=fused only). The steps of "
               "lr_warmup run eagerly, because a graph keeps the learning rate with which it was captured")
        .optional_phases({"data", "forward", "backward", "recompute", "optimizer", "replay"})
        .uses(kymo::Framework::LibTorch)
        .ranks(1, 1);
  }

  ~TrainText() noexcept(false) override {
    if (steps_ > 0 && is_complete_ && !is_observed() && !ctx_->cancelled()) finish(*ctx_);
  }

  void prepare(Context& ctx) override {
    ctx_ = ctx;
    device_ = kymo::libtorch::select_device(ctx);
    read_settings(ctx);
    read_text(ctx);
    make_model(ctx);
    make_optimizer(ctx);
    training::declare_language_model(ctx, settings_);
    if (settings_.graph) make_graph(ctx);
  }

  void before_step(Context& ctx) override {
    const std::int64_t every = ctx.integer("validate_every");
    if (every > 0 && steps_ > 0 && steps_ % every == 0 && !is_observed())
      ctx.metric("validation_loss", validate(ctx), "nat", kymo::Per::Step);
  }

  void step(Context& ctx) override {
    is_complete_ = false;
    {
      auto phase = kymo::libtorch::phase(ctx, "data");
      loader_->next(batch_);
    }
    set_learning_rate();
    const bool replays = graph_ && steps_ >= lr_warmup_;
    const at::Tensor loss = replays ? graph_->run_step(ctx) : training::run_step(ctx, definition_);
    // Reading the loss waits for the device, as in any training that logs its loss. The loader relies on it.
    if (!ctx.on_meta()) ctx.metric("loss", loss.item<double>(), "nat", kymo::Per::Step);
    if (ctx.host()->tag) tag_step(ctx);
    ++steps_;
    is_complete_ = true;
  }

  kymo::Verification verify(Context& ctx) override { return training::verify_language_model(ctx, settings_, device_); }

 private:
  /// The passes that record operators, kernels or memory run a few steps only, and record everything that runs.
  bool is_observed() const { return ctx_->host()->scope_begin != nullptr; }

  void read_settings(const Context& ctx) {
    static_cast<training::OperatorSetting&>(settings_) = training::read_operators(ctx);
    settings_.model = training::read_model(ctx, kByteValues);
    settings_.batch = ctx.integer("batch");
    settings_.attention = ctx.text("attention");
    settings_.graph = ctx.text("execution") == "graph";
    settings_.fused_optimizer = ctx.text("optimizer") == "fused";
    if (settings_.graph && !settings_.fused_optimizer) ctx.skip("execution=graph requires optimizer=fused");
    training::skip_unless_supported(ctx, settings_, "optimizer=" + ctx.text("optimizer"));
    learning_rate_ = ctx.real("learning_rate");
    lr_warmup_ = ctx.integer("lr_warmup");
    target_loss_ = ctx.real("target_loss");
  }

  void read_text(const Context& ctx) {
    const std::string folder = ctx.text("text");
    text_ = kymo::text::read_text(folder.empty() ? kymo::text::standard_library() : folder, ctx.integer("text_bytes"));
    const std::size_t trained = text_.bytes.size() - text_.bytes.size() / 20;
    const kymo::text::BatchShape shape{settings_.batch, settings_.model.context};
    loader_.emplace(std::string_view(text_.bytes).substr(0, trained), shape, ctx.seed(), ctx.boolean("prefetch"),
                    device_);
    const auto options = at::TensorOptions().dtype(at::kLong).device(device_);
    batch_ = at::zeros({2, shape.batch, shape.context}, options);  // zeros: valid input for a graph's warm-up
    make_validation(std::string_view(text_.bytes).substr(trained), ctx.integer("validation_batches"));
    for (const at::Tensor& tensor : {batch_, validation_}) kymo::libtorch::tag(ctx, tensor, Block::Input);
    ctx.metric("text_sha256", text_.sha256);
    ctx.metric("text_bytes", static_cast<double>(text_.bytes.size()), "B");
    ctx.metric("text_files", static_cast<double>(text_.files));
    ctx.mark("text_ready");
  }

  /// Evenly spaced windows of the held-out text; short texts repeat some.
  void make_validation(std::string_view text, std::int64_t batches) {
    const std::int64_t context = settings_.model.context;
    const std::int64_t available = kymo::text::window_count(text, context, "held-out");
    const at::Tensor all = at::empty({batches, 2, settings_.batch, context}, at::TensorOptions().dtype(at::kLong));
    for (std::int64_t i = 0; i < batches; ++i) {
      std::vector<std::int64_t> windows;
      for (std::int64_t j = 0; j < settings_.batch; ++j)
        windows.push_back((i * settings_.batch + j) * available / (batches * settings_.batch));
      kymo::text::gather(text, windows, context, all[i].mutable_data_ptr<std::int64_t>());
    }
    validation_ = all.to(device_);
  }

  void make_model(const Context& ctx) {
    const at::Generator generator = kymo::libtorch::make_generator(device_, ctx.seed());
    const training::TrainedWeights weights =
        training::make_trained_weights(settings_.model, settings_, device_, generator);
    model_ = std::make_unique<transformer::LanguageModel>(settings_.model, weights.model, settings_.attention,
                                                          settings_.fused, settings_.checkpoint);
    master_weights_ = training::master_weights(weights);
    definition_.autocast = settings_.autocast;
    definition_.parameters = transformer::parameters(model_->weights());
    definition_.loss = [this](const Context& step_ctx) { return model_->loss(step_ctx, batch_[0], batch_[1]); };
    for (const at::Tensor& parameter : definition_.parameters) kymo::libtorch::tag(ctx, parameter, Block::Parameter);
    ctx.mark("model_ready");
  }

  void make_optimizer(const Context& ctx) {
    training::AdamWSetting setting = settings_.adamw();
    setting.learning_rate = learning_rate_;
    if (settings_.fused_optimizer)
      optimizer_ = training::make_fused_adamw(ctx, definition_.parameters, setting, master_weights_);
    else
      optimizer_ = training::make_adamw(/*fused=*/false, definition_.parameters, setting);
    master_weights_.clear();  // the optimizer holds them
    definition_.update = [this] { optimizer_->step(); };
    definition_.update_scope = "adamw";
  }

  void make_graph(const Context& ctx) {
    graph_ = std::make_unique<training::StepGraph>(device_, definition_);
    graph_->warm_up(ctx);
    dynamic_cast<training::FusedAdamW&>(*optimizer_).warm_up();
    ctx.mark("graph_warm");
  }

  void set_learning_rate() {
    const double part = steps_ < lr_warmup_ ? static_cast<double>(steps_ + 1) / static_cast<double>(lr_warmup_) : 1.0;
    optimizer_->param_groups().front().options().set_lr(learning_rate_ * part);
  }

  void tag_step(const Context& ctx) {
    for (const at::Tensor& parameter : definition_.parameters)
      kymo::libtorch::tag(ctx, parameter.grad(), Block::Gradient);
    for (const auto& [parameter, state] : optimizer_->state()) {  // the plain optimizer allocates it in the first step
      const auto* adamw = dynamic_cast<const torch::optim::AdamWParamState*>(state.get());
      if (!adamw) continue;
      for (const at::Tensor& moment : {adamw->exp_avg(), adamw->exp_avg_sq()})
        kymo::libtorch::tag(ctx, moment, Block::OptimizerState);
    }
  }

  /// The mean loss on held-out text, and the number of steps after which it first was at the target.
  double validate(const Context& ctx) {
    const training::QuietContext quiet(ctx);
    training::StepDefinition forward;
    forward.mode = training::Mode::kForward;
    forward.autocast = settings_.autocast;
    double sum = 0;
    for (std::int64_t i = 0; i < validation_.size(0); ++i) {
      const at::Tensor batch = validation_[i];
      forward.loss = [&](const Context& step_ctx) { return model_->loss(step_ctx, batch[0], batch[1]); };
      sum += training::run_step(quiet.context(), forward).item<double>();
    }
    const double loss = sum / static_cast<double>(validation_.size(0));
    if (target_loss_ > 0 && loss <= target_loss_ && !steps_to_target_) steps_to_target_ = steps_;
    return loss;
  }

  void finish(const Context& ctx) {
    const double loss = validate(ctx);
    ctx.metric("validation_loss", loss, "nat");
    if (steps_to_target_) ctx.metric("steps_to_target", static_cast<double>(*steps_to_target_), "steps");
    if (target_loss_ <= 0 || loss <= target_loss_) return;
    char message[160];
    std::snprintf(message, sizeof message,
                  "the training missed its target: after %lld steps, the loss on held-out text is %.4f nat; "
                  "target_loss is %.4f nat",
                  static_cast<long long>(steps_), loss, target_loss_);
    ctx.host()->fail(ctx.handle(), KYMO_FAILED, message);
  }

  std::optional<Context> ctx_;
  training::LanguageModelSetting settings_;
  double learning_rate_ = 0, target_loss_ = 0;
  std::int64_t lr_warmup_ = 0;
  at::Device device_{at::kCPU};
  kymo::text::Text text_;
  std::optional<kymo::text::Loader> loader_;  // reads text_
  std::unique_ptr<transformer::LanguageModel> model_;
  std::vector<at::Tensor> master_weights_;  // until there is an optimizer
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  training::StepDefinition definition_;
  std::unique_ptr<training::StepGraph> graph_;  // none in eager execution
  at::Tensor batch_;                            // [2, batch, context]: tokens and targets
  at::Tensor validation_;                       // [batches, 2, batch, context]
  std::int64_t steps_ = 0;
  std::optional<std::int64_t> steps_to_target_;
  bool is_complete_ = true;  // false if the last step threw
};

}  // namespace

KYMO_EXPORT_WORKLOADS(TrainText)

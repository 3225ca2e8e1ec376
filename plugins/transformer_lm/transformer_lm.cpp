// SPDX-License-Identifier: Apache-2.0
// Full training step of a language model: forward with loss, backward, AdamW.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <kymo/torch.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <optional>

#include "training/fused_adamw.hpp"
#include "training/language_model.hpp"
#include "training/step.hpp"
#include "transformer/attention.hpp"
#include "transformer/model.hpp"

namespace {

namespace training = kymo::training;
namespace transformer = kymo::transformer;
using kymo::Block;
using kymo::Bool, kymo::Choice, kymo::Int;
using kymo::Context;

class TransformerLm final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"transformer_lm",
                            "training step of a decoder-only Transformer language model (RMSNorm, rotary embeddings, "
                            "SwiGLU) with AdamW, on random weights and tokens"}
        .family("transformer")
        .param("size", Choice{"tiny", training::size_choices()}.axis({"small", "medium", "large", "xl", "2.7B"}),
               "preset for d_model, d_ff, layers and heads; custom requires setting them individually")
        .param("vocab_size", Int{10000}.at_least(1), "vocabulary size")
        .param("context", Int{256}.at_least(1).unit("tokens").axis({128, 256, 512, 1024}), "sequence length")
        .param("d_model", Int{0}.at_least(0), "model dimension; 0 uses the preset's")
        .param("d_ff", Int{0}.at_least(0), "feed-forward dimension; 0 uses the preset's")
        .param("layers", Int{0}.at_least(0), "number of blocks; 0 uses the preset's")
        .param("heads", Int{0}.at_least(0), "number of attention heads, must divide d_model; 0 uses the preset's")
        .param("batch", Int{4}.at_least(1).unit("sequences").axis({1, 2, 4, 8, 16}), "batch size")
        .param("dtype", Choice{"fp32", kymo::libtorch::dtype_names()},
               "data type of weights, gradients and optimizer state")
        .param("optimizer_state", training::optimizer_state_choice(), training::kOptimizerStateText)
        .param("autocast", Bool{false}, training::kAutocastText)
        .param("mode", Choice{"train", training::mode_names()}.axis(training::mode_names()),
               "passes of a step; forward records no gradients")
        .param("attention", Choice{"naive", transformer::attention_names()}.axis({"naive", "tiled", "flash", "sdpa"}),
               "naive: all scores in memory; tiled and flash: FlashAttention-2 in tensor operations and in CUDA; sdpa: "
               "LibTorch's scaled_dot_product_attention, with sdpa_cudnn, sdpa_flash, sdpa_efficient and sdpa_math "
               "selecting its backend. The run is skipped if the device, type and shape are not supported")
        .param("operators", training::operators_choice(), training::kOperatorsText)
        .param("checkpoint", training::checkpoint_choice(), training::kCheckpointText)
        .param("checkpoint_blocks", training::checkpoint_blocks(), training::kCheckpointBlocksText)
        .param("checkpoint_feed_forward", training::checkpoint_feed_forward(), training::kCheckpointFeedForwardText)
        .param(
            "execution", Choice{"eager", {"eager", "graph"}}.axis({"eager", "graph"}).title("CUDA {}"),
            "eager, or graph: capture the step into a CUDA graph and replay it (device=cuda only). Step 0 captures in "
            "the phases forward, backward and optimizer, which executes nothing, and then replays the graph once in "
            "the phase replay, as all later steps do. Before step 0, three warm-up passes without an update leave the "
            "weights unchanged")
        .optional_phases({"forward", "backward", "recompute", "optimizer", "replay"})
        .uses(kymo::Framework::LibTorch)
        .ranks(1, 1)
        .asynchronous();
  }

  ~TransformerLm() noexcept(false) override {
    if (steps_ == 1) report_loss(*ctx_, "loss_first", loss_);
    if (steps_ > 0) report_loss(*ctx_, "loss_last", loss_);
  }

  void prepare(Context& ctx) override {
    ctx_ = ctx;
    read_settings(ctx);
    device_ = kymo::libtorch::select_device(ctx);
    generator_ = kymo::libtorch::make_generator(device_, ctx.seed());
    make_model(ctx);
    if (settings_.mode == training::Mode::kTrain) make_optimizer(ctx);
    make_batch(ctx);
    training::declare_language_model(ctx, settings_);
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
    loss_ = graph_ ? graph_->run_step(ctx) : training::run_step(ctx, definition_);
    ++steps_;
    if (!ctx.host()->tag) return;
    for (const at::Tensor& parameter : definition_.parameters)
      kymo::libtorch::tag(ctx, parameter.grad(), Block::Gradient);
  }

  kymo::Verification verify(Context& ctx) override { return training::verify_language_model(ctx, settings_, device_); }

 private:
  void read_settings(const Context& ctx) {
    static_cast<training::OperatorSetting&>(settings_) = training::read_operators(ctx);
    settings_.model = training::read_model(ctx, ctx.integer("vocab_size"));
    settings_.batch = ctx.integer("batch");
    settings_.mode = training::mode_of(ctx.text("mode"));
    settings_.attention = ctx.text("attention");
    settings_.graph = ctx.text("execution") == "graph";
    training::skip_unless_supported(ctx, settings_);
  }

  void make_model(Context& ctx) {
    const training::TrainedWeights weights =
        training::make_trained_weights(settings_.model, settings_, device_, generator_);
    model_ = std::make_unique<transformer::LanguageModel>(settings_.model, weights.model, settings_.attention,
                                                          settings_.fused, settings_.checkpoint);
    if (settings_.mode == training::Mode::kTrain) master_weights_ = training::master_weights(weights);
    definition_.mode = settings_.mode;
    definition_.autocast = settings_.autocast;
    definition_.parameters = transformer::parameters(model_->weights());
    definition_.loss = [this](const Context& step_ctx) { return model_->loss(step_ctx, tokens_, targets_); };
    for (const at::Tensor& parameter : definition_.parameters) kymo::libtorch::tag(ctx, parameter, Block::Parameter);
    ctx.mark("model_ready");
  }

  void make_optimizer(Context& ctx) {
    training::AdamWSetting setting = settings_.adamw();
    setting.learning_rate = 1e-4;
    optimizer_ = training::make_fused_adamw(ctx, definition_.parameters, setting, master_weights_);
    master_weights_.clear();  // the optimizer holds them
    definition_.update = [this] { optimizer_->step(); };
    definition_.update_scope = "adamw";
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
    graph_ = std::make_unique<training::StepGraph>(device_, definition_);
    graph_->warm_up(ctx);
    if (optimizer_) optimizer_->warm_up();
    ctx.mark("graph_warm");
  }

  static void report_loss(const Context& ctx, const char* name, const at::Tensor& loss) {
    if (!ctx.on_meta()) ctx.metric(name, loss.item<double>(), "nat");
  }

  std::optional<Context> ctx_;
  training::LanguageModelSetting settings_;
  at::Device device_{at::kCPU};
  at::Generator generator_;
  std::unique_ptr<transformer::LanguageModel> model_;
  std::vector<at::Tensor> master_weights_;  // until there is an optimizer
  std::unique_ptr<training::FusedAdamW> optimizer_;
  training::StepDefinition definition_;
  std::unique_ptr<training::StepGraph> graph_;  // none in eager execution
  at::Tensor drawn_, tokens_, targets_;         // [batch, context + 1], and its first and last `context` columns
  at::Tensor loss_;
  std::int64_t steps_ = 0;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(TransformerLm)

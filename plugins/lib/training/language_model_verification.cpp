// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <kymo/torch.hpp>

#include "training/fused_adamw.hpp"
#include "training/language_model.hpp"
#include "training/step.hpp"
#include "transformer/model.hpp"
#include "transformer/reference.hpp"

namespace kymo::training {
namespace {

/// A model of two blocks; of those that compute gate and up again, one.
LanguageModelSetting small_settings(const LanguageModelSetting& run) {
  LanguageModelSetting small = run;
  small.model = {.vocab_size = 61, .context = 24, .d_model = 64, .d_ff = 96, .layers = 2, .heads = 4};
  small.batch = 2;
  small.checkpoint.feed_forward_blocks = std::min<std::int64_t>(run.checkpoint.feed_forward_blocks, 1);
  return small;
}

void check_model(Context& ctx, const LanguageModelSetting& run, const at::Device& device, Verification& result) {
  const LanguageModelSetting settings = small_settings(run);
  at::Generator generator = libtorch::make_generator(device, ctx.seed() + 1);
  const TrainedWeights weights = make_trained_weights(settings.model, settings, device, generator);
  transformer::LanguageModel model(settings.model, weights.model, settings.attention, settings.fused,
                                   settings.checkpoint);
  const auto draw = [&] {
    return at::empty({settings.batch, settings.model.context}, at::TensorOptions().dtype(at::kLong).device(device))
        .random_(0, settings.model.vocab_size, generator);
  };
  const at::Tensor tokens = draw(), targets = draw();

  StepDefinition definition;
  definition.mode = Mode::kForward;
  definition.autocast = settings.autocast;
  definition.loss = [&](const Context& step_ctx) { return model.logits(step_ctx, tokens); };
  const at::Tensor logits = run_step(ctx, definition);
  definition.mode = Mode::kForwardBackward;
  definition.parameters = transformer::parameters(model.weights());
  definition.loss = [&](const Context& step_ctx) { return model.loss(step_ctx, tokens, targets); };
  const at::Tensor loss = run_step(ctx, definition);

  const transformer::ModelReference expected =
      transformer::reference_model(settings.model, weights.exact, tokens, targets);
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : definition.parameters) gradients.push_back(parameter.grad());
  const std::string reference = "float64 model of 2 blocks, computed per head";
  const auto expect_equal = [&](const char* name, const transformer::Distance& distance) {
    transformer::expect_close(result, name, reference, distance, tolerance_of(settings));
  };
  expect_equal("logits", transformer::distance(logits, expected.logits));
  expect_equal("loss", transformer::distance(loss, expected.loss));
  expect_equal("gradients", transformer::worst_distance(gradients, expected.gradients));
}

/// One AdamW step by the formula in float64, in place.
void adamw(at::Tensor& parameter, at::Tensor& mean, at::Tensor& square_mean, const at::Tensor& gradient, int step,
           const AdamWSetting& setting) {
  mean = mean * setting.beta1 + gradient * (1 - setting.beta1);
  square_mean = square_mean * setting.beta2 + gradient * gradient * (1 - setting.beta2);
  const at::Tensor unbiased_mean = mean / (1 - std::pow(setting.beta1, step));
  const at::Tensor unbiased_square = square_mean / (1 - std::pow(setting.beta2, step));
  parameter = parameter - parameter * (setting.learning_rate * setting.weight_decay);
  parameter = parameter - unbiased_mean / (unbiased_square.sqrt() + setting.epsilon) * setting.learning_rate;
}

void check_optimizer(Context& ctx, const LanguageModelSetting& settings, const at::Device& device,
                     Verification& result) {
  const c10::NoGradGuard no_gradients;
  at::Generator generator = libtorch::make_generator(device, ctx.seed() + 2);
  const bool has_master = settings.has_master_weights();
  const at::ScalarType dtype = has_master ? settings.autocast.value_or(settings.dtype) : settings.dtype;
  const auto draw = [&](at::ScalarType type) {
    return at::empty({37, 5}, at::TensorOptions().dtype(type).device(device)).normal_(0, 1, generator);
  };
  const auto exact = [](const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kDouble).clone(); };
  AdamWSetting setting = settings.adamw();
  setting.learning_rate = 1e-2;
  setting.weight_decay = 0.1;
  setting.epsilon = 1e-6;  // representable in fp16
  const at::Tensor updated = draw(has_master ? at::kFloat : dtype), parameter = updated.to(dtype);
  at::Tensor expected = exact(updated), mean = expected * 0, square_mean = expected * 0;
  const auto optimizer = make_adamw(settings.fused_optimizer, {parameter}, setting);
  if (has_master) dynamic_cast<FusedAdamW&>(*optimizer).set_master_weights({updated});
  for (int step = 1; step <= 4; ++step) {
    const at::Tensor gradient = draw(dtype);
    parameter.mutable_grad() = gradient;
    optimizer->step();
    adamw(expected, mean, square_mean, exact(gradient), step, setting);
  }
  const double tolerance = updated.scalar_type() == at::kFloat ? 1e-5 : dtype == at::kHalf ? 5e-3 : 3e-2;
  transformer::expect_close(result, "AdamW", "AdamW formula in float64, 4 steps",
                            transformer::distance(updated, expected), tolerance);
  if (!has_master) return;
  const bool is_rounded = at::equal(parameter, updated.to(dtype));
  result.that(is_rounded, "rounded weights", "master weights in " + std::string(c10::toString(dtype)) + ", bitwise",
              is_rounded ? "" : "differ after 4 steps");
}

/// A small model with its optimizer and batch. Two instances with the same seed are equal and draw the same batches.
class ReferenceModel {
 public:
  ReferenceModel(const LanguageModelSetting& settings, const at::Device& device, std::uint64_t seed,
                 const AdamWSetting& optimizer)
      : generator_(libtorch::make_generator(device, seed)),
        weights_(make_trained_weights(settings.model, settings, device, generator_)),
        model_(settings.model, weights_.model, settings.attention, settings.fused, settings.checkpoint),
        batch_(at::zeros({2, settings.batch, settings.model.context},
                         at::TensorOptions().dtype(at::kLong).device(device))),
        optimizer_(transformer::parameters(model_.weights()), optimizer) {
    if (settings.has_master_weights()) optimizer_.set_master_weights(master_weights(weights_));
    optimizer_.make_state();
    definition.mode = settings.mode;
    definition.autocast = settings.autocast;
    definition.parameters = transformer::parameters(model_.weights());
    definition.update = [this] { optimizer_.step(); };
    definition.loss = [this](const Context& step_ctx) { return model_.loss(step_ctx, batch_[0], batch_[1]); };
  }
  ReferenceModel(const ReferenceModel&) = delete;
  ReferenceModel& operator=(const ReferenceModel&) = delete;

  void draw() { batch_.random_(0, model_.config().vocab_size, generator_); }
  /// Of logits that were converted to fp32.
  at::Tensor exact_loss(const Context& ctx) {
    return at::cross_entropy_loss(model_.logits(ctx, batch_[0]).to(at::kFloat), batch_[1].reshape({-1}));
  }
  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& parameter : definition.parameters) all.push_back(parameter.grad());
    return all;
  }

  StepDefinition definition;

 private:
  at::Generator generator_;
  TrainedWeights weights_;
  transformer::LanguageModel model_;
  at::Tensor batch_;  // [2, batch, context]: tokens and targets
  FusedAdamW optimizer_;
};

/// The learning rate is large enough for one missing or extra step to change the second digit of the next gradients.
/// Epsilon is above gradients whose squares are 0 in fp16, so that rounding errors do not grow.
AdamWSetting large_steps(AdamWSetting setting) {
  setting.learning_rate = 1e-2;
  setting.epsilon = 1e-3;
  return setting;
}

/// Compares graph steps, the first of which captures, with eager ones from the same weights and batches: a replay that
/// reads an old batch, or skips or repeats an update, diverges.
void check_graph(Context& ctx, const LanguageModelSetting& run, const at::Device& device, Verification& result) {
  constexpr int kSteps = 5;
  const LanguageModelSetting settings = small_settings(run);
  const AdamWSetting optimizer = large_steps(settings.adamw());
  ReferenceModel eager(settings, device, ctx.seed() + 3, optimizer);
  ReferenceModel replayed(settings, device, ctx.seed() + 3, optimizer);
  StepGraph graph(device, replayed.definition);
  graph.warm_up(ctx);
  std::vector<at::Tensor> losses, expected;
  for (int i = 0; i < kSteps; ++i) {
    eager.draw();
    replayed.draw();
    expected.push_back(run_step(ctx, eager.definition));
    losses.push_back(graph.run_step(ctx).clone());  // the next replay overwrites it
  }
  const std::string reference = "eager steps with the same weights and batches, " + std::to_string(kSteps) + " steps";
  const double tolerance = tolerance_of(settings);
  // Both sides run the same kernels: a loss may differ by the last bit of bf16, but not by as much as another batch
  // would change it.
  transformer::expect_close(result, "graph losses", reference,
                            transformer::distance(at::stack(losses), at::stack(expected)), std::min(tolerance, 1e-2));
  if (settings.mode == Mode::kForward) return;
  transformer::expect_close(result, "graph gradients", reference,
                            transformer::worst_distance(replayed.gradients(), eager.gradients()), tolerance);
}

/// Compares losses in bf16, whose mean over tokens shows deviations below the rounding errors of single results, with
/// those of LibTorch's layers, with all scores in memory and without checkpoints.
void check_losses(Context& ctx, const LanguageModelSetting& run, const at::Device& device, Verification& result) {
  constexpr int kSteps = 20;
  LanguageModelSetting settings = small_settings(run);
  settings.batch = device.is_cuda() ? 64 : 4;  // processors without instructions for bf16 take long
  LanguageModelSetting plain = settings;
  plain.fused = {.optimizer = run.fused.optimizer, .master_weights = run.fused.master_weights};
  plain.attention = "naive";
  plain.checkpoint = {};
  AdamWSetting optimizer = settings.adamw();
  optimizer.learning_rate = 1e-3;
  ReferenceModel trained(settings, device, ctx.seed() + 4, optimizer);
  ReferenceModel reference(plain, device, ctx.seed() + 4, optimizer);
  reference.definition.loss = [&](const Context& step_ctx) { return reference.exact_loss(step_ctx); };
  if (!settings.fused.loss)
    trained.definition.loss = [&](const Context& step_ctx) { return trained.exact_loss(step_ctx); };
  std::vector<at::Tensor> losses, expected;
  for (int i = 0; i < kSteps; ++i) {
    trained.draw();
    reference.draw();
    losses.push_back(run_step(ctx, trained.definition));
    expected.push_back(run_step(ctx, reference.definition));
  }
  transformer::expect_close(result, "losses of " + std::to_string(kSteps) + " steps",
                            "LibTorch's layers, naive attention, no checkpoints",
                            transformer::distance(at::stack(losses), at::stack(expected)), 1e-3);
}

}  // namespace

void check_language_model(Context& ctx, const LanguageModelSetting& settings, const at::Device& device,
                          Verification& result) {
  check_model(ctx, settings, device, result);
  if (settings.mode == Mode::kTrain) check_optimizer(ctx, settings, device, result);
  if (settings.graph) check_graph(ctx, settings, device, result);
  const bool is_bf16 = settings.autocast || settings.dtype == at::kBFloat16;
  if (settings.mode == Mode::kTrain && is_bf16 && settings.checkpoint.kind != transformer::Checkpointing::kNone)
    check_losses(ctx, settings, device, result);
}

Verification verify_language_model(Context& ctx, const LanguageModelSetting& settings, const at::Device& device) {
  Verification result;
  check_language_model(ctx, settings, device, result);
  return result;
}

}  // namespace kymo::training

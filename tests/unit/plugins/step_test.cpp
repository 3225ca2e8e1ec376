// SPDX-License-Identifier: Apache-2.0
#include "training/step.hpp"

#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>

#include <kymo/torch.hpp>
#include <stdexcept>

#include "training/fused_adamw.hpp"
#include "transformer/model.hpp"
#include "unit/plugins/fake_host.hpp"

namespace kymo::training {
namespace {

using testing::ElementsAre;
using transformer::LanguageModel;

class Step : public testing::Test {
 protected:
  Step()
      : model_(config_, transformer::make_weights(config_, at::kFloat, libtorch::make_generator(at::kCPU, 5)), "naive"),
        parameters_(transformer::parameters(model_.weights())),
        tokens_(at::randint(config_.vocab_size, {2, 8}, at::TensorOptions().dtype(at::kLong))) {
    parts_.parameters = parameters_;
    parts_.loss = [this](const Context& seen_by) { return model_.loss(seen_by, tokens_, tokens_); };
  }

  FakeHost host_;
  Context ctx_{host_.host(), host_.handle()};
  transformer::Config config_{.vocab_size = 17, .context = 8, .d_model = 16, .d_ff = 32, .layers = 1, .heads = 2};
  LanguageModel model_;
  std::vector<at::Tensor> parameters_;
  at::Tensor tokens_;
  StepDefinition parts_;
};

TEST_F(Step, ForwardRecordsNothing) {
  parts_.mode = Mode::kForward;
  const at::Tensor loss = run_step(ctx_, parts_);
  EXPECT_FALSE(loss.requires_grad());
  EXPECT_FALSE(parameters_[0].grad().defined());
  EXPECT_THAT(host_.phases, ElementsAre("forward"));
}

TEST_F(Step, BackwardGivesFreshGradientsEachStep) {
  parts_.mode = Mode::kForwardBackward;
  run_step(ctx_, parts_);
  const at::Tensor first = parameters_[1].grad().clone();
  run_step(ctx_, parts_);
  EXPECT_TRUE(at::equal(parameters_[1].grad(), first)) << "gradients of two steps were added up";
  EXPECT_THAT(host_.phases, ElementsAre("forward", "backward", "forward", "backward"));
}

TEST_F(Step, TrainingLearnsABatchByHeart) {
  AdamWSetting setting;
  setting.learning_rate = 1e-2;
  FusedAdamW optimizer(parameters_, setting);
  parts_.update = [&] { optimizer.step(); };
  const double first = run_step(ctx_, parts_).item<double>();
  EXPECT_THAT(host_.phases, ElementsAre("forward", "backward", "optimizer"));
  double last = first;
  for (int i = 0; i < 40; ++i) last = run_step(ctx_, parts_).item<double>();
  EXPECT_LT(last, 0.2 * first);
}

TEST_F(Step, AutocastHoldsForTheForwardPassAlone) {
  parts_.mode = Mode::kForwardBackward;
  parts_.autocast = at::kBFloat16;
  at::ScalarType seen = at::kFloat, after = at::kBFloat16;
  parts_.loss = [&](const Context&) {
    seen = model_.logits(ctx_, tokens_).scalar_type();
    return model_.loss(ctx_, tokens_, tokens_);
  };
  parts_.after_backward = [&](const Context&) { after = model_.logits(ctx_, tokens_).scalar_type(); };
  run_step(ctx_, parts_);
  EXPECT_EQ(seen, at::kBFloat16);
  EXPECT_EQ(after, at::kFloat);
}

TEST_F(Step, NamesTheUpdateAndClosesItsScopes) {
  FusedAdamW optimizer(parameters_, {});
  parts_.update = [&] { optimizer.step(); };
  parts_.update_scope = "adamw";
  run_step(ctx_, parts_);
  EXPECT_EQ(host_.scopes.front(), "embedding");
  EXPECT_THAT(std::vector<std::string>(host_.scopes.end() - 2, host_.scopes.end()), ElementsAre("loss", "adamw"));
  EXPECT_EQ(host_.open_scopes, 0);
}

TEST_F(Step, GraphNeedsAGpu) {
  EXPECT_THAT([&] { StepGraph(at::kCPU, parts_); }, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(
                                                        "cannot be captured on cpu: CUDA graphs require device=cuda")));
}

TEST_F(Step, CallsTheHooksBeforeAndBetweenThePhases) {
  FusedAdamW optimizer(parameters_, {});
  parts_.update = [&] { optimizer.step(); };
  parts_.after_backward = [&](const Context&) {
    EXPECT_TRUE(parameters_[0].grad().defined());
    EXPECT_EQ(optimizer.state_of(parameters_[0]), nullptr) << "the optimizer ran before the gradients were ready";
    auto phase = libtorch::phase(ctx_, "communication");
  };
  parts_.before_forward = [&] { EXPECT_THAT(host_.phases, testing::IsEmpty()); };
  run_step(ctx_, parts_);
  EXPECT_THAT(host_.phases, ElementsAre("forward", "backward", "communication", "optimizer"));
}

TEST_F(Step, RejectsMissingParts) {
  EXPECT_THAT([&] { run_step(ctx_, parts_); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("no update")));
  parts_.loss = nullptr;
  EXPECT_THAT([&] { run_step(ctx_, parts_); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("no loss")));
  EXPECT_THROW(mode_of("backward"), std::invalid_argument);
  for (const std::string& name : mode_names()) EXPECT_NO_THROW(mode_of(name));
}

TEST(TorchGlue, ParsesTypesAndSeparatesGenerators) {
  EXPECT_EQ(libtorch::dtype("bf16"), at::kBFloat16);
  for (const std::string& name : libtorch::dtype_names()) EXPECT_NO_THROW(libtorch::dtype(name));
  EXPECT_THAT([] { libtorch::dtype("int8"); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("'int8'")));
  libtorch::seed_everything(1);
  const at::Tensor shared = at::randint(1 << 30, {4}, at::TensorOptions().dtype(at::kLong));
  libtorch::seed_everything(1);
  at::Generator own = libtorch::make_generator(at::kCPU, 9);
  const at::Tensor first = at::randint(1 << 30, {4}, own, at::TensorOptions().dtype(at::kLong));
  EXPECT_TRUE(at::equal(at::randint(1 << 30, {4}, at::TensorOptions().dtype(at::kLong)), shared))
      << "a generator of its own moved the shared one";
  own = libtorch::make_generator(at::kCPU, 9);
  EXPECT_TRUE(at::equal(at::randint(1 << 30, {4}, own, at::TensorOptions().dtype(at::kLong)), first));
}

}  // namespace
}  // namespace kymo::training

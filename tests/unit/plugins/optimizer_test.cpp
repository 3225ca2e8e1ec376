// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <gmock/gmock.h>
#include <torch/optim/adamw.h>

#include <stdexcept>

#include "training/fused_adamw.hpp"

namespace kymo::training {
namespace {

std::vector<at::Tensor> random_parameters(at::ScalarType dtype) {
  return {at::randn({7, 3}, at::TensorOptions().dtype(dtype)), at::randn({33}, at::TensorOptions().dtype(dtype))};
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.clone());
  return all;
}

void set_gradients(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const at::Tensor gradient = at::randn_like(ours[i]);
    ours[i].mutable_grad() = gradient;
    theirs[i].mutable_grad() = gradient.clone();
  }
}

double difference(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(worst, (ours[i] - theirs[i]).abs().max().item<double>());
  return worst;
}

AdamWSetting setting_of(double rate, double decay) {
  AdamWSetting setting;
  setting.learning_rate = rate;
  setting.weight_decay = decay;
  return setting;
}

void expect_like_torch(at::ScalarType dtype, double decay, double tolerance) {
  const auto ours = random_parameters(dtype), theirs = copies(ours), before = copies(ours);
  FusedAdamW fused(ours, setting_of(1e-2, decay));
  torch::optim::AdamW plain(theirs, torch::optim::AdamWOptions(1e-2).weight_decay(decay));
  for (int step = 0; step < 6; ++step) {
    set_gradients(ours, theirs);
    fused.step();
    plain.step();
  }
  EXPECT_LT(difference(ours, theirs), tolerance);
  EXPECT_GT(difference(ours, before), 1e-2);
  EXPECT_EQ(fused.state_of(ours[0])->step.item<float>(), 6);
}

TEST(FusedAdamW, EqualsTorchWithItsOwnKernel) {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    const auto ours = random_parameters(dtype), theirs = copies(ours);
    AdamWSetting setting = setting_of(1e-2, 0.1);
    setting.own_kernel = true;
    FusedAdamW fused(ours, setting);
    torch::optim::AdamW plain(theirs, torch::optim::AdamWOptions(1e-2).weight_decay(0.1));
    for (int step = 0; step < 6; ++step) {
      set_gradients(ours, theirs);
      if (step == 3) ours[1].mutable_grad() = theirs[1].mutable_grad() = at::Tensor();
      fused.step();
      plain.step();
    }
    EXPECT_LT(difference(ours, theirs), dtype == at::kDouble ? 1e-12 : 1e-6);
    EXPECT_EQ(fused.state_of(ours[0])->step.item<float>(), 6);
    EXPECT_EQ(fused.state_of(ours[1])->step.item<float>(), 5) << "without a gradient, the step does not count";
  }
}

TEST(FusedAdamW, EqualsTorchInDouble) { expect_like_torch(at::kDouble, 0.0, 1e-12); }
TEST(FusedAdamW, EqualsTorchWithDecay) { expect_like_torch(at::kDouble, 0.1, 1e-12); }
TEST(FusedAdamW, EqualsTorchInFloat) { expect_like_torch(at::kFloat, 0.1, 1e-6); }

TEST(FusedAdamW, TakesGroupsInMidTraining) {
  const auto first = random_parameters(at::kDouble), second = random_parameters(at::kDouble);
  const auto first_copy = copies(first), second_copy = copies(second), untouched = copies(second);
  FusedAdamW fused(first, setting_of(1e-2, 0.1));
  torch::optim::AdamW plain(first_copy, torch::optim::AdamWOptions(1e-2).weight_decay(0.1));
  const auto both = [&] {
    set_gradients(first, first_copy);
    set_gradients(second, second_copy);
    fused.step();
    plain.step();
  };
  both();
  both();
  EXPECT_EQ(difference(second, untouched), 0);
  using torch::optim::OptimizerParamGroup;
  fused.add_param_group(OptimizerParamGroup(second, std::make_unique<AdamWSetting>(setting_of(5e-3, 0))));
  plain.add_param_group(OptimizerParamGroup(
      second_copy, std::make_unique<torch::optim::AdamWOptions>(torch::optim::AdamWOptions(5e-3).weight_decay(0))));
  both();
  both();
  EXPECT_LT(difference(first, first_copy), 1e-12);
  EXPECT_LT(difference(second, second_copy), 1e-12);
  EXPECT_EQ(fused.state_of(second[0])->step.item<float>(), 2);
  EXPECT_THROW(fused.add_param_group(OptimizerParamGroup(second)), c10::Error);
}

TEST(FusedAdamW, LeavesParametersWithoutGradient) {
  const auto parameters = random_parameters(at::kDouble), before = copies(parameters);
  FusedAdamW optimizer(parameters, {});
  parameters[0].mutable_grad() = at::randn_like(parameters[0]);
  optimizer.step();
  EXPECT_FALSE(at::equal(parameters[0], before[0]));
  EXPECT_TRUE(at::equal(parameters[1], before[1]));
  EXPECT_EQ(optimizer.state_of(parameters[1]), nullptr);
  optimizer.zero_grad();
  EXPECT_FALSE(parameters[0].grad().defined());
  const at::Tensor after = parameters[0].clone();
  optimizer.step();
  EXPECT_TRUE(at::equal(parameters[0], after));
  EXPECT_EQ(optimizer.state_of(parameters[0])->step.item<float>(), 1);
}

TEST(FusedAdamW, MakesStateAheadAndRunsAClosure) {
  const auto parameters = random_parameters(at::kFloat);
  FusedAdamW optimizer(parameters, {});
  optimizer.make_state();
  ASSERT_NE(optimizer.state_of(parameters[1]), nullptr);
  EXPECT_EQ(optimizer.state_of(parameters[1])->step.item<float>(), 0);
  EXPECT_EQ(optimizer.state_of(parameters[1])->mean.abs().max().item<float>(), 0);
  parameters[0].requires_grad_(true);
  const at::Tensor loss = optimizer.step([&] {
    at::Tensor value = parameters[0].pow(2).sum();
    value.backward();
    return value;
  });
  EXPECT_TRUE(loss.defined());
  EXPECT_EQ(optimizer.state_of(parameters[0])->step.item<float>(), 1);
}

TEST(FusedAdamW, WarmingUpChangesNothing) {
  const auto parameters = random_parameters(at::kFloat), before = copies(parameters);
  FusedAdamW optimizer(parameters, setting_of(1e-2, 0.1));
  optimizer.make_state();
  optimizer.warm_up();
  EXPECT_EQ(difference(parameters, before), 0);
  EXPECT_EQ(optimizer.state_of(parameters[0])->step.item<float>(), 0);
  EXPECT_FALSE(parameters[0].grad().defined());
}

TEST(FusedAdamW, RejectsSettingsOutOfRange) {
  AdamWSetting setting;
  setting.beta1 = 1;
  EXPECT_THAT([&] { FusedAdamW(random_parameters(at::kFloat), setting); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("beta1 is 1")));
  EXPECT_THROW(FusedAdamW(random_parameters(at::kFloat), setting_of(-1, 0)), std::invalid_argument);
  EXPECT_THROW(FusedAdamW(random_parameters(at::kFloat), setting_of(1, -1)), std::invalid_argument);
}

}  // namespace
}  // namespace kymo::training

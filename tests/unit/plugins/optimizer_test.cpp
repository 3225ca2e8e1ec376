// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn_like.h>
#include <gmock/gmock.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <stdexcept>

#include "training/fused_adamw.hpp"
#include "unit/plugins/optimizer_case.hpp"

namespace kymo::training {
namespace {

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

TEST(FusedAdamW, EqualsCastsWithMasterWeights) {
  MasterWeights made;
  const void* address = made.rounded[0].const_data_ptr();
  FusedAdamW fused(made.rounded, own_kernel()), with_casts(made.exact, own_kernel());
  fused.set_master_weights(made.masters);
  fused.make_state();
  EXPECT_EQ(fused.state_of(made.rounded[0])->mean.scalar_type(), at::kFloat);
  EXPECT_FALSE(fused.state_of(made.rounded[1])->master_weight.defined());
  for (int step = 0; step < 4; ++step) {
    made.draw_gradients();
    if (step == 2) made.rounded[1].mutable_grad() = made.exact[1].mutable_grad() = at::Tensor();
    fused.step();
    with_casts.step();
    EXPECT_TRUE(at::equal(made.masters[0], made.exact[0])) << step;
    EXPECT_TRUE(at::equal(made.rounded[0], made.exact[0].to(at::kBFloat16))) << step;
    EXPECT_TRUE(at::equal(made.rounded[1], made.exact[1])) << step;
  }
  EXPECT_EQ(made.rounded[0].const_data_ptr(), address) << "a CUDA graph reads the weights at their addresses";
  EXPECT_EQ(fused.state_of(made.rounded[0])->master_weight.const_data_ptr(), made.masters[0].const_data_ptr());
}

TEST(FusedAdamW, RoundsMasterWeightsAtOnceAndWarmsUpWithoutChanges) {
  MasterWeights made;
  made.rounded[0].zero_();
  FusedAdamW fused(made.rounded, own_kernel());
  fused.set_master_weights(made.masters);
  EXPECT_TRUE(at::equal(made.rounded[0], made.masters[0].to(at::kBFloat16)));
  fused.warm_up();
  EXPECT_TRUE(at::equal(made.masters[0], made.exact[0]));
  EXPECT_TRUE(at::equal(made.rounded[0], made.exact[0].to(at::kBFloat16)));
  EXPECT_EQ(fused.state_of(made.rounded[0])->step.item<float>(), 0);
}

TEST(FusedAdamW, HoldsFp32MomentsOfNarrowParameters) {
  const auto narrow = random_parameters(at::kBFloat16);
  std::vector<at::Tensor> wide;
  for (const at::Tensor& parameter : narrow) wide.push_back(parameter.to(at::kFloat));
  FusedAdamW fused(narrow, own_kernel(/*fp32_moments=*/true)), expected(wide, own_kernel(/*fp32_moments=*/true));
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    narrow[i].mutable_grad() = at::randn_like(narrow[i]);
    wide[i].mutable_grad() = narrow[i].grad().to(at::kFloat);
  }
  fused.step();
  expected.step();
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    EXPECT_TRUE(at::equal(narrow[i], wide[i].to(at::kBFloat16)));
    EXPECT_TRUE(at::equal(fused.state_of(narrow[i])->mean, expected.state_of(wide[i])->mean));
    EXPECT_TRUE(at::equal(fused.state_of(narrow[i])->square_mean, expected.state_of(wide[i])->square_mean));
  }
}

TEST(FusedAdamW, RejectsMasterWeightsThatItCannotUpdate) {
  const MasterWeights made;
  const auto expect = [&](const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& masters,
                          const AdamWSetting& setting, const char* message) {
    EXPECT_THAT([&] { FusedAdamW(parameters, setting).set_master_weights(masters); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(message)));
  };
  expect(made.rounded, {made.masters[0]}, own_kernel(), "there are 1 master weights for 2 parameters");
  expect(made.rounded, made.masters, setting_of(1e-2, 0), "require AdamWSetting::own_kernel");
  expect(made.exact, made.masters, own_kernel(), "is Float [7, 3] on cpu; it must be BFloat16 or Half");
  expect(made.rounded, {made.masters[0].t(), {}}, own_kernel(), "a master weight is Float [3, 7] on cpu");
  FusedAdamW stepped(made.rounded, own_kernel());
  stepped.make_state();
  EXPECT_THAT([&] { stepped.set_master_weights(made.masters); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("already has an optimizer state")));
}

/// Steps of FusedAdamW with clipping, and of clip_grad_norm_() and LibTorch's AdamW.
void expect_clipped_like_torch(at::ScalarType dtype, bool own, double max_norm, double tolerance) {
  const auto ours = random_parameters(dtype), theirs = copies(ours);
  AdamWSetting setting = setting_of(1e-2, 0.1);
  setting.own_kernel = own;
  setting.max_norm = max_norm;
  // Two groups: the norm is that of all gradients.
  FusedAdamW fused({ours[0]}, setting);
  fused.add_param_group(torch::optim::OptimizerParamGroup({ours[1]}, std::make_unique<AdamWSetting>(setting)));
  torch::optim::AdamW plain(theirs, torch::optim::AdamWOptions(1e-2).weight_decay(0.1));
  for (int step = 0; step < 6; ++step) {
    set_gradients(ours, theirs);
    for (const auto* side : {&ours, &theirs}) (*side)[0].mutable_grad() = (*side)[0].grad() * (step + 1);
    if (step == 3) ours[1].mutable_grad() = theirs[1].mutable_grad() = at::Tensor();
    torch::nn::utils::clip_grad_norm_(theirs, max_norm);
    fused.step();
    plain.step();
  }
  EXPECT_LT(difference(ours, theirs), tolerance) << dtype << " " << own << " " << max_norm;
}

TEST(FusedAdamW, ClipsLikeTorch) {
  for (const bool own : {false, true})
    for (const double max_norm : {0.5, 20.0, 1e6}) {                // clips all steps, some, none
      expect_clipped_like_torch(at::kDouble, own, max_norm, 1e-7);  // the norm is fp32
      expect_clipped_like_torch(at::kFloat, own, max_norm, 1e-6);
    }
}

TEST(FusedAdamW, ClipsGradientsOfMasterWeightsByTheNormOfBothTypes) {
  MasterWeights made;
  AdamWSetting setting = own_kernel();
  setting.max_norm = 0.1;
  FusedAdamW fused(made.rounded, setting), with_casts(made.exact, setting);
  fused.set_master_weights(made.masters);
  made.draw_gradients();
  const at::Tensor norm = global_norm({made.rounded[0].grad(), made.rounded[1].grad()});
  EXPECT_EQ(norm.scalar_type(), at::kFloat);
  EXPECT_NEAR(norm.item<double>(), at::cat({made.exact[0].grad().view(-1), made.exact[1].grad()}).norm().item<double>(),
              1e-5);
  fused.step();
  with_casts.step();
  EXPECT_LT(difference({made.masters[0], made.rounded[1]}, made.exact), 1e-6);
  EXPECT_LT(fused.state_of(made.rounded[0])->mean.abs().max().item<double>(), 0.1);
}

TEST(FusedAdamW, RejectsSettingsOutOfRange) {
  AdamWSetting setting;
  setting.beta1 = 1;
  EXPECT_THAT([&] { FusedAdamW(random_parameters(at::kFloat), setting); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("beta1 is 1")));
  EXPECT_THROW(FusedAdamW(random_parameters(at::kFloat), setting_of(-1, 0)), std::invalid_argument);
  EXPECT_THROW(FusedAdamW(random_parameters(at::kFloat), setting_of(1, -1)), std::invalid_argument);
  setting = {};
  setting.max_norm = -1;
  EXPECT_THAT([&] { FusedAdamW(random_parameters(at::kFloat), setting); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("max_norm is -1")));
}

}  // namespace
}  // namespace kymo::training

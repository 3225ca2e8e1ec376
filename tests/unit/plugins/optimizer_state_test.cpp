// SPDX-License-Identifier: Apache-2.0
// Saving and loading the state of FusedAdamW.
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <torch/optim/adamw.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "training/fused_adamw.hpp"
#include "unit/plugins/optimizer_case.hpp"

namespace kymo::training {
namespace {

using testing::HasSubstr;
using torch::optim::OptimizerParamGroup;

std::string saved(const torch::optim::Optimizer& optimizer) {
  torch::serialize::OutputArchive archive;
  optimizer.save(archive);
  std::ostringstream stream;
  archive.save_to(stream);
  return stream.str();
}

void load(torch::optim::Optimizer& optimizer, const std::string& bytes) {
  std::istringstream stream(bytes);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  optimizer.load(archive);
}

void expect_error(FusedAdamW& optimizer, const std::string& bytes, const std::string& message) {
  EXPECT_THAT([&] { load(optimizer, bytes); }, testing::ThrowsMessage<std::invalid_argument>(HasSubstr(message)));
}

/// Parameters that a run trains, and how.
struct Training {
  std::vector<at::Tensor> parameters, masters;
  AdamWSetting setting;

  /// The same values in other tensors.
  Training copied() const {
    Training other{copies(parameters), {}, setting};
    for (const at::Tensor& master : masters) other.masters.push_back(master.defined() ? master.clone() : at::Tensor());
    return other;
  }
  std::unique_ptr<FusedAdamW> optimizer() const {
    auto made = std::make_unique<FusedAdamW>(parameters, setting);
    if (!masters.empty()) made->set_master_weights(masters);
    return made;
  }
};

/// Gradients of step `step`, determined by it. In step 1, the last parameter has none.
void step(const Training& training, FusedAdamW& optimizer, int step) {
  for (std::size_t i = 0; i < training.parameters.size(); ++i) {
    const at::Tensor& parameter = training.parameters[i];
    const at::Tensor positions = at::arange(parameter.numel(), at::kFloat).view(parameter.sizes());
    parameter.mutable_grad() = at::sin(positions * 12.9898 + 78.233 * (step + 1)).to(parameter.scalar_type());
  }
  if (step == 1) training.parameters.back().mutable_grad().reset();
  optimizer.step();
}

void expect_equal(const at::Tensor& ours, const at::Tensor& theirs, const char* what) {
  ASSERT_EQ(ours.defined(), theirs.defined()) << what;
  if (!ours.defined()) return;
  EXPECT_EQ(ours.scalar_type(), theirs.scalar_type()) << what;
  EXPECT_TRUE(at::equal(ours, theirs)) << what;
}

/// Interrupts a training after two of five steps, in a process that knows the parameters and the saved state only.
void expect_continued(const Training& whole, bool state_exists) {
  const Training first = whole.copied();
  const auto uninterrupted = whole.optimizer(), interrupted = first.optimizer();
  for (int i = 0; i < 5; ++i) step(whole, *uninterrupted, i);
  for (int i = 0; i < 2; ++i) step(first, *interrupted, i);

  Training second = first.copied();
  for (const at::Tensor& master : second.masters)
    if (master.defined()) master.zero_();  // as after another initialization: the saved ones replace them
  AdamWSetting other = whole.setting;
  other.learning_rate = 1;
  second.setting = other;
  const auto continued = second.optimizer();
  if (state_exists) continued->make_state();
  load(*continued, saved(*interrupted));
  for (std::size_t i = 0; i < second.parameters.size(); ++i)
    expect_equal(second.parameters[i], first.parameters[i], "after loading");
  for (int i = 2; i < 5; ++i) step(second, *continued, i);

  for (std::size_t i = 0; i < whole.parameters.size(); ++i) {
    expect_equal(second.parameters[i], whole.parameters[i], "parameter");
    const AdamWState *ours = continued->state_of(second.parameters[i]),
                     *theirs = uninterrupted->state_of(whole.parameters[i]);
    expect_equal(ours->step, theirs->step, "step count");
    expect_equal(ours->mean, theirs->mean, "mean");
    expect_equal(ours->square_mean, theirs->square_mean, "square mean");
    expect_equal(ours->master_weight, theirs->master_weight, "master weight");
  }
}

TEST(FusedAdamWState, ContinuesWithTheSameBits) {
  for (const bool state_exists : {false, true}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
      SCOPED_TRACE(c10::toString(dtype));
      expect_continued({random_parameters(dtype), {}, setting_of(1e-2, 0.1)}, state_exists);
      expect_continued({random_parameters(dtype), {}, own_kernel()}, state_exists);
    }
    AdamWSetting clipped = own_kernel();
    clipped.max_norm = 0.5;
    clipped.beta1 = 0.8;
    expect_continued({random_parameters(at::kFloat), {}, clipped}, state_exists);
    expect_continued({random_parameters(at::kBFloat16), {}, own_kernel(/*fp32_moments=*/true)}, state_exists);
    const MasterWeights made;
    expect_continued({made.rounded, made.masters, own_kernel()}, state_exists);
  }
}

TEST(FusedAdamWState, KeepsAddressesAndRestoresSettings) {
  const MasterWeights made;
  const Training first{made.rounded, made.masters, own_kernel()}, second = first.copied();
  const auto trained = first.optimizer(), loaded = second.optimizer();
  step(first, *trained, 0);
  trained->param_groups().front().options().set_lr(0.125);
  loaded->make_state();
  const AdamWState* state = loaded->state_of(second.parameters[0]);
  const void *mean = state->mean.const_data_ptr(), *step_count = state->step.const_data_ptr();
  load(*loaded, saved(*trained));
  EXPECT_EQ(loaded->param_groups().front().options().get_lr(), 0.125);
  EXPECT_EQ(loaded->state_of(second.parameters[0]), state);
  EXPECT_EQ(state->mean.const_data_ptr(), mean) << "a CUDA graph reads the state at its address";
  EXPECT_EQ(state->step.const_data_ptr(), step_count);
  EXPECT_EQ(state->master_weight.const_data_ptr(), second.masters[0].const_data_ptr());
  EXPECT_TRUE(at::equal(second.masters[0], first.masters[0]));
}

TEST(FusedAdamWState, RestoresThatAParameterHasNotBeenUpdated) {
  const Training first{random_parameters(at::kFloat), {}, own_kernel()}, second = first.copied();
  const auto fresh = first.optimizer(), stepped = second.optimizer();
  step(second, *stepped, 0);
  load(*stepped, saved(*fresh));
  EXPECT_EQ(stepped->state_of(second.parameters[0])->step.item<float>(), 0);
  EXPECT_EQ(stepped->state_of(second.parameters[0])->mean.abs().max().item<float>(), 0);
}

TEST(FusedAdamWState, RestoresMasterWeightsWhereThereAreNone) {
  const MasterWeights made;
  const Training first{made.rounded, made.masters, own_kernel()};
  const auto trained = first.optimizer();
  step(first, *trained, 0);
  const auto parameters = copies(made.rounded);
  parameters[0].zero_();
  FusedAdamW loaded(parameters, own_kernel());
  load(loaded, saved(*trained));
  EXPECT_TRUE(at::equal(loaded.state_of(parameters[0])->master_weight, made.masters[0]));
  EXPECT_TRUE(at::equal(parameters[0], made.rounded[0])) << "the master weight is rounded to its parameter";
}

/// An optimizer of these parameters after one step.
std::string saved_after_a_step(const std::vector<at::Tensor>& parameters, const AdamWSetting& setting) {
  const Training training{parameters, {}, setting};
  const auto optimizer = training.optimizer();
  step(training, *optimizer, 0);
  return saved(*optimizer);
}

TEST(FusedAdamWState, RejectsAStateOfOtherParameters) {
  const auto parameters = random_parameters(at::kFloat), before = copies(parameters);
  FusedAdamW optimizer(parameters, own_kernel());
  expect_error(optimizer, saved_after_a_step({parameters[0].clone()}, own_kernel()),
               "group 0 of the saved optimizer state has 1 parameters, but the optimizer has 2; load a state that was "
               "saved for the same parameters");
  expect_error(optimizer, saved_after_a_step({parameters[0].clone(), at::zeros({32})}, own_kernel()),
               "parameter 1 of group 0 is Float [33] on cpu, but its optimizer state was saved for a parameter with "
               "sizes [32]; load a state that was saved for the same parameters");
  expect_error(optimizer, saved(FusedAdamW({parameters[1].clone(), parameters[0].clone()}, own_kernel())),
               "parameter 0 of group 0 is Float [7, 3] on cpu, but its optimizer state was saved for a parameter with "
               "sizes [33]");
  expect_error(optimizer, saved_after_a_step(random_parameters(at::kBFloat16), own_kernel()),
               "parameter 0 of group 0 is Float [7, 3] on cpu, but its saved mean is BFloat16 [7, 3] on cpu; it must "
               "be Float of the same shape");
  FusedAdamW two_groups({parameters[0].clone()}, own_kernel());
  two_groups.add_param_group(OptimizerParamGroup(std::vector<at::Tensor>{parameters[1].clone()}));
  expect_error(optimizer, saved(two_groups),
               "the saved optimizer state has 2 parameter groups, but the optimizer has 1");
  EXPECT_EQ(optimizer.state_of(parameters[0]), nullptr) << "an error leaves the optimizer unchanged";
  EXPECT_EQ(difference(parameters, before), 0);
}

TEST(FusedAdamWState, RejectsAStateThatDisagreesOnMasterWeights) {
  const MasterWeights made;
  const Training with{made.rounded, made.masters, own_kernel()};
  const auto optimizer = with.optimizer();
  expect_error(*optimizer, saved_after_a_step(random_parameters(at::kBFloat16), own_kernel()),
               "parameter 0 of group 0 is BFloat16 [7, 3] on cpu, but the saved optimizer state has no master weight "
               "for it; load a state that was saved with master weights");
  FusedAdamW exact(made.exact, own_kernel());
  expect_error(exact, saved(*optimizer),
               "parameter 0 of group 0 is Float [7, 3] on cpu, but a parameter with a master weight is Float [7, 3] on "
               "cpu; it must be BFloat16 or Half");
}

TEST(FusedAdamWState, RejectsOtherFiles) {
  const auto parameters = random_parameters(at::kFloat);
  FusedAdamW optimizer(parameters, own_kernel());
  expect_error(optimizer, saved(torch::optim::AdamW(parameters)),
               "the archive does not contain a state of FusedAdamW; load a file that FusedAdamW::save() wrote");
  torch::serialize::OutputArchive incomplete;
  incomplete.write("kymo_fused_adamw", c10::IValue(std::int64_t{1}));
  std::ostringstream stream;
  incomplete.save_to(stream);
  expect_error(optimizer, stream.str(), "the saved optimizer state has no 'groups'");
}

}  // namespace
}  // namespace kymo::training

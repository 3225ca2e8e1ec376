// SPDX-License-Identifier: Apache-2.0
// FusedAdamW on a GPU: clipping, also in a CUDA graph, and saving its state.
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <sstream>

#include "gpu/machine.hpp"
#include "training/step.hpp"
#include "unit/plugins/fake_host.hpp"
#include "unit/plugins/optimizer_case.hpp"

namespace kymo::training {
namespace {

std::vector<at::Tensor> on_gpu(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.defined() ? tensor.to(at::kCUDA) : at::Tensor());
  return all;
}

class OptimizerOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!kymo::machine::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(OptimizerOnGpu, ClipsLikeTorch) {
  for (const bool own : {false, true})
    for (const double max_norm : {0.5, 1e6}) {
      const auto ours = on_gpu(random_parameters(at::kFloat)), theirs = copies(ours);
      AdamWSetting setting = setting_of(1e-2, 0.1);
      setting.own_kernel = own;
      setting.max_norm = max_norm;
      FusedAdamW fused(ours, setting);
      torch::optim::AdamW plain(theirs, torch::optim::AdamWOptions(1e-2).weight_decay(0.1));
      for (int step = 0; step < 6; ++step) {
        set_gradients(ours, theirs);
        torch::nn::utils::clip_grad_norm_(theirs, max_norm);
        fused.step();
        plain.step();
      }
      EXPECT_LT(difference(ours, theirs), 1e-6) << own << " " << max_norm;
    }
}

/// The norm is computed in each replay: from gradients that grow, it must not be that of the captured step.
TEST_F(OptimizerOnGpu, ClipsByTheNormOfEachReplay) {
  FakeHost host;
  host.use_device(KYMO_CUDA);
  const Context ctx(host.host(), host.handle());
  AdamWSetting setting = own_kernel();
  setting.max_norm = 0.5;
  const auto start = on_gpu(random_parameters(at::kFloat)), eager = copies(start), replayed = copies(start);
  const at::Tensor factor = at::ones({}, start[0].options());
  const auto step_of = [&](const std::vector<at::Tensor>& parameters, FusedAdamW& optimizer) {
    for (const at::Tensor& parameter : parameters) parameter.requires_grad_(true);
    optimizer.make_state();
    StepDefinition parts;
    parts.parameters = parameters;
    parts.update = [&optimizer] { optimizer.step(); };
    parts.loss = [parameters, factor](const Context&) {
      return ((parameters[0].pow(2).sum() + parameters[1].pow(3).sum()) * factor).sum();
    };
    return parts;
  };
  FusedAdamW ours(eager, setting), theirs(replayed, setting);
  const StepDefinition eager_step = step_of(eager, ours);
  StepGraph graph(at::Device(at::kCUDA, 0), step_of(replayed, theirs));
  graph.warm_up(ctx);
  theirs.warm_up();
  for (int step = 0; step < 5; ++step) {
    factor.fill_(step + 1);
    run_step(ctx, eager_step);
    graph.run_step(ctx);
  }
  const c10::NoGradGuard no_gradients;
  EXPECT_LT(difference(replayed, eager), 1e-6);
  EXPECT_GT(difference(replayed, start), 1e-2);
}

TEST_F(OptimizerOnGpu, ContinuesASavedStateWithTheSameBits) {
  const MasterWeights made;
  const auto whole = on_gpu(made.rounded), parts = copies(whole);
  FusedAdamW uninterrupted(whole, own_kernel()), interrupted(parts, own_kernel());
  uninterrupted.set_master_weights(on_gpu(made.masters));
  interrupted.set_master_weights(on_gpu(made.masters));
  const auto both = [&](FusedAdamW& second) {
    set_gradients(whole, parts);
    uninterrupted.step();
    second.step();
  };
  both(interrupted);
  both(interrupted);
  torch::serialize::OutputArchive saved;
  interrupted.save(saved);
  std::stringstream stream;
  saved.save_to(stream);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  FusedAdamW continued(parts, own_kernel());
  continued.load(archive);
  both(continued);
  both(continued);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(at::equal(whole[i], parts[i])) << i;
    EXPECT_TRUE(at::equal(uninterrupted.state_of(whole[i])->mean, continued.state_of(parts[i])->mean)) << i;
  }
  EXPECT_TRUE(at::equal(uninterrupted.state_of(whole[0])->master_weight, continued.state_of(parts[0])->master_weight));
}

}  // namespace
}  // namespace kymo::training

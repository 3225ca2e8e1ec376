// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include <functional>
#include <kymo/torch.hpp>
#include <memory>
#include <vector>

#include "schemes.hpp"
#include "training/equality.hpp"
#include "training/flat_layout.hpp"
#include "training/sharded_optimizer.hpp"
#include "training/zero1.hpp"
#include "transformer/reference.hpp"

namespace {

namespace training = kymo::training;
using torch::optim::OptimizerParamGroup;

constexpr int kSteps = 10, kGroupAddedAfter = 5;

/// Uneven sizes, so that part boundaries fall inside parameters and some ranks may own nothing.
const std::vector<std::vector<std::int64_t>> kFirst{{17, 33}, {5}, {64, 9}}, kSecond{{31}, {8, 13}};

/// One side of the comparison: how it receives gradients, performs a step, and adds a group.
struct Side {
  std::vector<at::Tensor> parameters;
  std::function<void()> begin = [] {}, step;
  std::function<void(const OptimizerParamGroup&)> add;
};

std::vector<at::Tensor> draw(const std::vector<std::vector<std::int64_t>>& sizes, const at::Device& device,
                             at::Generator& generator) {
  std::vector<at::Tensor> drawn;
  for (const auto& size : sizes)
    drawn.push_back(at::empty(size, at::TensorOptions().dtype(at::kDouble).device(device)).normal_(0, 1, generator));
  return drawn;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.clone());
  return all;
}

/// A second learning rate, so that swapped group settings are detected.
OptimizerParamGroup second_group(const training::OptimizerFactory& make, std::vector<at::Tensor> parameters) {
  auto settings = training::default_settings(make);
  settings->set_lr(settings->get_lr() * 3);
  return {std::move(parameters), std::move(settings)};
}

/// One optimizer per group: LibTorch's Adagrad cannot add groups later.
Side unsharded(std::vector<at::Tensor> parameters, const training::OptimizerFactory& make) {
  auto all = std::make_shared<std::vector<std::unique_ptr<torch::optim::Optimizer>>>();
  Side side;
  side.add = [all, make](const OptimizerParamGroup& group) { all->push_back(training::make_optimizer(make, group)); };
  side.add(OptimizerParamGroup(parameters));
  side.step = [all] {
    for (const auto& optimizer : *all) optimizer->step();
  };
  side.parameters = std::move(parameters);
  return side;
}

Side by_broadcast(std::vector<at::Tensor> parameters, const training::OptimizerFactory& make,
                  kymo::comm::Communicator& communicator, const Scheme& scheme) {
  auto sharded = std::make_shared<training::ShardedOptimizer>(parameters, make, communicator,
                                                              training::ShardedOptimizer::Options{scheme.flat});
  Side side;
  side.parameters = std::move(parameters);
  side.add = [sharded](const OptimizerParamGroup& group) { sharded->add_param_group(group); };
  side.step = [sharded, &communicator, &side_parameters = sharded->param_groups()] {
    for (const OptimizerParamGroup& group : side_parameters)
      for (const at::Tensor& parameter : group.params())
        communicator.all_reduce(parameter.grad(), kymo::comm::Reduction::kAverage)->wait();
    sharded->step();
  };
  return side;
}

Side by_zero1(std::vector<at::Tensor> parameters, const training::OptimizerFactory& make,
              kymo::comm::Communicator& communicator, const Scheme& scheme) {
  training::Zero1::Options options;
  options.bucket_bytes = scheme.bucket_mib > 0 ? 4000 : 1e9;  // several buckets, or one
  options.overlap = false;                                    // gradients are random: there is no backward pass
  auto zero = std::make_shared<training::Zero1>(OptimizerParamGroup(parameters), make, communicator, options);
  Side side;
  side.parameters = std::move(parameters);
  side.add = [zero](const OptimizerParamGroup& group) { zero->add_group(group); };
  side.begin = [zero] { zero->begin_step(); };
  side.step = [zero] {
    zero->finish_step();
    zero->update();
    zero->gather_parameters();
  };
  return side;
}

/// Gives each rank its own gradients, which all ranks know, and the unsharded side their mean.
void set_gradients(const Side& sharded, const Side& whole, const kymo::Context& ctx, at::Generator& generator) {
  for (std::size_t i = 0; i < whole.parameters.size(); ++i) {
    at::Tensor mean = at::zeros_like(whole.parameters[i]);
    for (int rank = 0; rank < ctx.world_size(); ++rank) {
      const at::Tensor gradient = at::empty(mean.sizes(), mean.options()).normal_(0, 1, generator);
      mean += gradient / ctx.world_size();
      if (rank == ctx.rank()) sharded.parameters[i].mutable_grad() = gradient;
    }
    whole.parameters[i].mutable_grad() = mean;
  }
}

}  // namespace

void expect_equal_to_unsharded(kymo::Verification& result, const kymo::Context& ctx,
                               kymo::comm::Communicator& communicator, const Scheme& scheme, const std::string& wrapped,
                               training::UpdateRule rule) {
  if (scheme.name == "none") return;
  const at::Device device = kymo::libtorch::select_device(ctx);
  at::Generator generator = kymo::libtorch::make_generator(device, ctx.seed() + 7);
  rule.learning_rate = 1e-2;
  const training::OptimizerFactory make = training::wrapped_factory(wrapped, rule);
  const std::vector<at::Tensor> first = draw(kFirst, device, generator), second = draw(kSecond, device, generator);
  Side whole = unsharded(copies(first), make);
  Side sharded = scheme.name == "zero1" ? by_zero1(copies(first), make, communicator, scheme)
                                        : by_broadcast(copies(first), make, communicator, scheme);
  for (int i = 0; i < kSteps; ++i) {
    if (i == kGroupAddedAfter)
      for (Side* side : {&whole, &sharded}) {
        const std::vector<at::Tensor> added = copies(second);
        side->add(second_group(make, added));
        side->parameters.insert(side->parameters.end(), added.begin(), added.end());
      }
    sharded.begin();
    set_gradients(sharded, whole, ctx, generator);
    whole.step();
    sharded.step();
  }
  const std::string what = wrapped + " sharded by " + scheme.name + ", 10 steps, parameter group added after 5";
  kymo::transformer::expect_close(result, what, "unsharded optimizer in float64",
                                  kymo::transformer::worst_distance(sharded.parameters, whole.parameters), 1e-9);
  training::expect_bitwise_equal(result, what + ", bits", ctx, sharded.parameters);
}

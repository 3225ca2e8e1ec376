// SPDX-License-Identifier: Apache-2.0
#include "training/equality.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <kymo/torch.hpp>
#include <utility>

#include "training/gradient_hooks.hpp"
#include "training/step.hpp"
#include "transformer/reference.hpp"

namespace kymo::training {
namespace {

constexpr std::int64_t kLargestChecked = 2'000'000;
constexpr std::int64_t kElementsAtOnce = std::int64_t{1} << 22;  // bounds the temporary memory of a checksum

at::ScalarType bits_type(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 8:
      return at::kLong;
    case 4:
      return at::kInt;
    case 2:
      return at::kShort;
    default:
      return at::kByte;
  }
}

/// The sum of the elements' bit patterns, each multiplied by an odd number derived from its position, modulo 2^64,
/// computed on the tensor's device.
at::Tensor checksum(const at::Tensor& tensor) {
  const at::Tensor bits = tensor.detach().contiguous().view(-1).view(bits_type(tensor));
  at::Tensor sum = at::zeros({}, bits.options().dtype(at::kLong));
  for (std::int64_t from = 0; from < bits.numel(); from += kElementsAtOnce) {
    const std::int64_t count = std::min(kElementsAtOnce, bits.numel() - from);
    const at::Tensor odd = at::arange(2 * from + 1, 2 * (from + count) + 1, 2, sum.options());
    sum += (bits.narrow(0, from, count).to(at::kLong) * odd).sum();
  }
  return sum;
}

std::vector<std::int64_t> checksums(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return {};
  const c10::NoGradGuard no_gradients;
  std::vector<at::Tensor> sums;
  for (const at::Tensor& tensor : tensors) sums.push_back(checksum(tensor));
  const at::Tensor all = at::stack(sums).cpu();
  return {all.const_data_ptr<std::int64_t>(), all.const_data_ptr<std::int64_t>() + all.numel()};
}

/// The model that verification trains instead of the configured one: the same parameters if they are few, and always
/// short sequences.
ModelSetting small_model(const ModelSetting& configured) {
  ModelSetting small = configured;
  small.context = std::min<std::int64_t>(configured.context, 16);
  if (parameter_count(configured) <= kLargestChecked) return small;
  small.name = "tiny";
  small.vocabulary = 1000;
  return small;
}

/// A float64 model and its training: weights and batches are derived from two seeds.
class ReferenceModel {
 public:
  ReferenceModel(const ModelSetting& setting, const at::Device& device, std::int64_t examples,
                 std::uint64_t weight_seed, std::uint64_t batch_seed)
      : model(make_model(setting, at::TensorOptions().dtype(at::kDouble).device(device), weight_seed)),
        batch(model->make_batch(examples)),
        generator_(libtorch::make_generator(device, batch_seed)) {}

  void step(const Context& ctx, const Batch& share, GradientExchange* exchange, ParameterUpdate& update) {
    model->draw(batch, generator_);
    StepDefinition parts;
    parts.mode = Mode::kForwardBackward;
    parts.loss = [&](const Context& seen_by) { return model->loss(seen_by, share); };
    if (exchange)
      exchange->begin_step();
    else
      drop_gradients(model->parameters());
    run_step(ctx, parts);
    if (exchange) exchange->finish_step();
    update.step();
  }

  std::unique_ptr<TrainedModel> model;
  Batch batch;

 private:
  at::Generator generator_;
};

struct Trajectory {
  UpdateRule rule;
  int steps;
  double tolerance;
};

/// Runs the same trajectory on all ranks together and on this rank alone.
void expect_equal_trajectory(Verification& result, const Strategy& strategy, const ModelSetting& setting,
                             std::int64_t batch, const Trajectory& trajectory) {
  const Context& ctx = strategy.ctx;
  const std::int64_t ranks = ctx.world_size();
  const std::uint64_t seed = ctx.seed() + 5;
  // Different weights on each rank, so that a missing broadcast is detected.
  ReferenceModel data_parallel(setting, strategy.device, batch * ranks, seed + static_cast<std::uint64_t>(ctx.rank()),
                               seed);
  ReferenceModel alone(setting, strategy.device, batch * ranks, seed, seed);

  broadcast_parameters(*strategy.communicator, data_parallel.model->parameters());

  const Replica replica{ctx, data_parallel.model->trained(), strategy.communicator, trajectory.rule};
  const std::unique_ptr<GradientExchange> exchange = strategy.make_exchange(replica);
  const std::unique_ptr<ParameterUpdate> update = strategy.make_update(replica);
  const std::unique_ptr<ParameterUpdate> update_alone = make_whole_update(ctx, trajectory.rule, alone.model->trained());
  for (int i = 0; i < trajectory.steps; ++i) {
    data_parallel.step(ctx, data_parallel.batch.part(ctx.rank(), ranks), exchange.get(), *update);
    alone.step(ctx, alone.batch, nullptr, *update_alone);
  }
  const std::string what =
      setting.name + " in float64, " + std::to_string(trajectory.steps) + " steps of " + trajectory.rule.name;
  transformer::expect_close(result, what, "single process, whole batch of " + std::to_string(batch * ranks),
                            transformer::worst_distance(data_parallel.model->parameters(), alone.model->parameters()),
                            trajectory.tolerance);
  expect_bitwise_equal(result, what + ", bits", ctx, data_parallel.model->parameters());
}

}  // namespace

void broadcast_parameters(comm::Communicator& communicator, const std::vector<at::Tensor>& parameters) {
  const c10::NoGradGuard no_gradients;
  for (const at::Tensor& parameter : parameters) communicator.broadcast(parameter.detach(), 0)->wait();
}

void expect_bitwise_equal(Verification& result, const std::string& name, const Context& ctx,
                          const std::vector<at::Tensor>& tensors) {
  const std::vector<std::int64_t> all = ctx.all_gather(checksums(tensors));
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == all[i % tensors.size()]) continue;
    if (wrong++ == 0)
      first = "parameter " + std::to_string(i % tensors.size()) + " of rank " + std::to_string(i / tensors.size());
  }
  result.that(wrong == 0, name, "parameters of rank 0, bitwise",
              wrong == 0 ? "" : std::to_string(wrong) + " differ; first: " + first);
}

void expect_equal_to_one_process(Verification& result, const Strategy& strategy, const ModelSetting& model,
                                 std::int64_t batch) {
  const ModelSetting setting = small_model(model);
  batch = std::min<std::int64_t>(batch, 2);
  expect_equal_trajectory(result, strategy, setting, batch, {{"sgd", 0.05}, 5, 1e-12});
  expect_equal_trajectory(result, strategy, setting, batch, {{"adamw", 1e-3}, 10, 1e-10});
}

}  // namespace kymo::training

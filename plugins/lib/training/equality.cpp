// SPDX-License-Identifier: Apache-2.0
#include "training/equality.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <kymo/torch.hpp>
#include <optional>
#include <utility>

#include "training/gradient_hooks.hpp"
#include "training/step.hpp"
#include "transformer/reference.hpp"

namespace kymo::training {
namespace {

const OperatorSetting kLibraryInDouble{.dtype = at::kDouble};

constexpr std::int64_t kMaxCheckedElements = 2'000'000;
constexpr std::int64_t kChunkElements = std::int64_t{1} << 22;  // bounds the temporary memory of a checksum

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
  for (std::int64_t from = 0; from < bits.numel(); from += kChunkElements) {
    const std::int64_t count = std::min(kChunkElements, bits.numel() - from);
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
  if (parameter_count(configured) <= kMaxCheckedElements) return small;
  small.name = "tiny";
  small.vocabulary = 1000;
  return small;
}

/// The same operators in float64, without other data types.
OperatorSetting in_double(OperatorSetting setting) {
  setting.dtype = at::kDouble;
  setting.autocast.reset();
  setting.fp32_moments = setting.master_weights = false;
  return setting;
}

/// A model and its training: weights and batches are derived from two seeds.
class ReferenceModel {
 public:
  ReferenceModel(ModelSetting setting, const OperatorSetting& operators, const at::Device& device,
                 std::int64_t examples, std::uint64_t weight_seed, std::uint64_t batch_seed)
      : generator_(libtorch::make_generator(device, batch_seed)), autocast_(operators.autocast) {
    setting.operators = operators;
    model = make_model(setting, device, weight_seed);
    batch = model->make_batch(examples);
  }

  void draw() { model->draw(batch, generator_); }
  /// Prepares step(), which trains on the batch or a part of it.
  void train(const Batch& examples, GradientExchange* exchange, ParameterUpdate& update) {
    step_ = make_step(*model, examples, exchange, update);
    step_.autocast = autocast_;
  }
  /// The same on this rank's part of the batch, by a strategy.
  void train(const Strategy& strategy, GradientExchange* exchange, ParameterUpdate& update) {
    const Context& ctx = strategy.ctx;
    train(batch.part(ctx.rank(), ctx.world_size()), exchange, update);
    if (strategy.graph) graph_ = make_graph(ctx, strategy.device, step_, batch, update);
  }
  void step(const Context& ctx) { graph_ ? graph_->run_step(ctx) : run_step(ctx, step_); }

  std::unique_ptr<TrainedModel> model;
  Batch batch;

 private:
  at::Generator generator_;
  std::optional<at::ScalarType> autocast_;
  StepDefinition step_;
  std::unique_ptr<StepGraph> graph_;
};

void copy_all(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
}

struct Trajectory {
  UpdateRule rule;
  int steps;
  double tolerance;
};

/// Runs the same trajectory on all ranks and in a single process.
void expect_equal_trajectory(Verification& result, const Strategy& strategy, const ModelSetting& setting,
                             std::int64_t batch, const Trajectory& trajectory) {
  const Context& ctx = strategy.ctx;
  const std::int64_t ranks = ctx.world_size();
  const std::uint64_t seed = ctx.seed() + 5;
  // Different weights on each rank, so that a missing broadcast is detected.
  const OperatorSetting operators = in_double(setting.operators);
  ReferenceModel data_parallel(setting, operators, strategy.device, batch * ranks,
                               seed + static_cast<std::uint64_t>(ctx.rank()), seed);
  ReferenceModel single(setting, kLibraryInDouble, strategy.device, batch * ranks, seed, seed);

  UpdateRule rule = trajectory.rule;
  rule.adamw = operators.adamw();
  const Replica replica = make_replica(ctx, *data_parallel.model, *strategy.communicator, rule);
  const std::unique_ptr<GradientExchange> exchange = strategy.make_exchange(replica);
  const std::unique_ptr<ParameterUpdate> update = strategy.make_update(replica);
  const std::unique_ptr<ParameterUpdate> single_update =
      make_replicated_update(ctx, trajectory.rule, single.model->trained());
  data_parallel.train(strategy, exchange.get(), *update);
  single.train(single.batch, nullptr, *single_update);
  for (int i = 0; i < trajectory.steps; ++i) {
    data_parallel.draw();
    single.draw();
    data_parallel.step(ctx);
    single.step(ctx);
  }
  if (exchange) exchange->complete_parameters();
  const std::string what =
      setting.name + " in float64, " + std::to_string(trajectory.steps) + " steps of " + trajectory.rule.name;
  transformer::expect_close(result, what, "single process, whole batch of " + std::to_string(batch * ranks),
                            transformer::worst_distance(data_parallel.model->parameters(), single.model->parameters()),
                            trajectory.tolerance);
  expect_bitwise_equal(result, what + ", bits", ctx, data_parallel.model->parameters());
}

/// Copies of the parameters in float64, with the values of their master weights.
std::vector<at::Tensor> exact_values(const Replica& replica) {
  std::vector<at::Tensor> exact;
  for (std::size_t i = 0; i < replica.parameters.size(); ++i) {
    const at::Tensor& master = replica.master_weights[i];
    exact.push_back((master.defined() ? master : replica.parameters[i]).detach().to(at::kDouble, false, /*copy=*/true));
  }
  return exact;
}

/// The changes of the parameters in a step.
std::vector<at::Tensor> changes(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& before) {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < parameters.size(); ++i) all.push_back(parameters[i].to(at::kDouble) - before[i]);
  return all;
}

/// One step of AdamW in the data types of the run, on all ranks, and in float64 with LibTorch's operators in a single
/// process. With this epsilon, the update is nearly proportional to the gradient, and with this learning rate, it is
/// much larger than a weight and thus than what rounding the weight changes.
void expect_equal_update(Verification& result, const Strategy& strategy, const ModelSetting& setting,
                         std::int64_t batch) {
  const c10::NoGradGuard no_gradients;
  const Context& ctx = strategy.ctx;
  const std::int64_t ranks = ctx.world_size();
  const std::uint64_t seed = ctx.seed() + 6;
  ReferenceModel data_parallel(setting, setting.operators, strategy.device, batch * ranks,
                               seed + static_cast<std::uint64_t>(ctx.rank()), seed);
  ReferenceModel single(setting, kLibraryInDouble, strategy.device, batch * ranks, seed, seed);
  UpdateRule rule{"adamw", 1e4, setting.operators.adamw()};
  rule.adamw.epsilon = 1;
  rule.adamw.weight_decay = 0;
  const Replica replica = make_replica(ctx, *data_parallel.model, *strategy.communicator, rule);
  if (replica.master_weights.empty()) return;  // a perceptron under autocast, whose weights are cast
  const std::vector<at::Tensor> before = exact_values(replica);
  copy_all(data_parallel.model->parameters(), single.model->parameters());
  copy_all(before, single.model->trained());

  const std::unique_ptr<GradientExchange> exchange = strategy.make_exchange(replica);
  const std::unique_ptr<ParameterUpdate> update = strategy.make_update(replica);
  rule.adamw.own_kernel = false;
  const std::unique_ptr<ParameterUpdate> single_update = make_replicated_update(ctx, rule, single.model->trained());
  {
    const c10::AutoGradMode with_gradients(true);
    data_parallel.train(strategy, exchange.get(), *update);
    single.train(single.batch, nullptr, *single_update);
    data_parallel.draw();
    copy_all({data_parallel.batch.input, data_parallel.batch.target}, {single.batch.input, single.batch.target});
    data_parallel.step(ctx);
    single.step(ctx);
  }
  if (exchange) exchange->complete_parameters();
  const std::string what = setting.name + " with master weights, a step of adamw";
  transformer::expect_close(
      result, what, "float64 model in a single process, whole batch of " + std::to_string(batch * ranks),
      transformer::worst_distance(changes(replica.parameters, before), changes(single.model->trained(), before)),
      tolerance_of(setting.operators));
  expect_bitwise_equal(result, what + ", bits", ctx, replica.parameters);
}

}  // namespace

void broadcast_parameters(comm::Communicator& communicator, const std::vector<at::Tensor>& parameters) {
  const c10::NoGradGuard no_gradients;
  for (const at::Tensor& parameter : parameters)
    if (parameter.defined()) communicator.broadcast(parameter.detach(), 0)->wait();
}

void expect_bitwise_equal(Verification& result, const std::string& name, const Context& ctx,
                          const std::vector<at::Tensor>& tensors) {
  const std::vector<std::int64_t> all = ctx.all_gather(checksums(tensors));
  std::size_t different = 0;
  std::string first;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == all[i % tensors.size()]) continue;
    if (different++ == 0)
      first = "parameter " + std::to_string(i % tensors.size()) + " of rank " + std::to_string(i / tensors.size());
  }
  result.that(different == 0, name, "parameters of rank 0, bitwise",
              different == 0 ? "" : std::to_string(different) + " differ; first: " + first);
}

void expect_equal_to_one_process(Verification& result, const Strategy& strategy, const ModelSetting& model,
                                 std::int64_t batch) {
  const ModelSetting setting = small_model(model);
  batch = std::min<std::int64_t>(batch, 2);
  expect_equal_trajectory(result, strategy, setting, batch, {{"sgd", 0.05}, 5, 1e-12});
  expect_equal_trajectory(result, strategy, setting, batch, {{"adamw", 1e-3}, 10, 1e-10});
  if (setting.operators.has_master_weights()) expect_equal_update(result, strategy, setting, batch);
}

}  // namespace kymo::training

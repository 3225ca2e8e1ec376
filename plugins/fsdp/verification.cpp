// SPDX-License-Identifier: Apache-2.0
#include "verification.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <kymo/torch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "training/equality.hpp"
#include "training/gradient_hooks.hpp"
#include "training/step.hpp"
#include "transformer/reference.hpp"

namespace {

using kymo::Context;
namespace training = kymo::training;
using training::Batch;
using training::TrainedModel;

constexpr int kRepeats = 5, kSteps = 4;
constexpr std::int64_t kExamples = 2;  // per rank

void run(const Context& ctx, TrainedModel& model, const Batch& part, const training::ModelSetting& setting) {
  training::StepDefinition definition;
  definition.mode = training::Mode::kForwardBackward;
  definition.autocast = setting.operators.autocast;
  definition.loss = [&](const Context& step_ctx) { return model.loss(step_ctx, part); };
  training::run_step(ctx, definition);
}

/// The training of all ranks in one process, without checkpoints. The masters are those of Fsdp, of each rank.
class RankOrder {
 public:
  RankOrder(const Context& ctx, TrainedModel& model, const training::FsdpOptions& options,
            const training::ModelSetting& setting, const training::UpdateRule& rule)
      : ctx_(ctx), model_(model), setting_(setting), ranks_(ctx.world_size()) {
    const c10::NoGradGuard no_gradients;
    masters_.resize(static_cast<std::size_t>(ranks_));
    for (training::FsdpUnit& unit : training::fsdp_units(model, options.by_block, ranks_))
      if (unit.is_trained()) add(std::move(unit.layout), options, ranks_);
    for (std::vector<at::Tensor>& alike : training::fsdp_replicated(model))
      add(training::FlatLayout(std::move(alike)), options, 1);
    for (const std::vector<at::Tensor>& masters : masters_)
      if (!masters.empty())
        optimizers_.push_back(training::make_optimizer(training::wrapped_factory("configured", rule),
                                                       torch::optim::OptimizerParamGroup(masters)));
  }

  void step(const Batch& batch) {
    for (Together& each : together_) each.gradients.reset();
    for (int rank = 0; rank < ranks_; ++rank) {
      training::drop_gradients(model_.trained());
      run(ctx_, model_, batch.part(rank, ranks_), setting_);
      const c10::NoGradGuard no_gradients;
      for (Together& each : together_) collect(each);
    }
    const c10::NoGradGuard no_gradients;
    for (const Together& each : together_)
      for (std::size_t i = 0; i < each.masters.size(); ++i)
        each.masters[i].mutable_grad() = each.gradient_of(i).to(each.masters[i].scalar_type());
    for (const auto& optimizer : optimizers_) optimizer->step();
    for (const Together& each : together_) each.publish();
  }

  /// The masters of a rank, in the order of Fsdp::masters().
  const std::vector<at::Tensor>& masters(int rank) const { return masters_[static_cast<std::size_t>(rank)]; }

 private:
  struct Together {
    training::FlatLayout layout;
    at::ScalarType reduce_type;
    bool is_sharded;
    at::Tensor exact;  // the masters of all parts
    std::vector<at::Tensor> masters{};
    at::Tensor gradients{};  // mean over ranks

    at::Tensor gradient_of(std::size_t i) const {
      return is_sharded ? layout.shard(gradients, static_cast<int>(i)) : layout.view(gradients, i);
    }
    void publish() const {
      for (std::size_t i = 0; i < layout.tensors().size(); ++i) layout.tensors()[i].copy_(layout.view(exact, i));
    }
  };

  void add(training::FlatLayout layout, const training::FsdpOptions& options, int shards) {
    const at::ScalarType type = layout.tensors().front().scalar_type();
    const at::ScalarType master_type = training::fsdp_master_type(type);
    const bool is_sharded = layout.tensors().front().dim() >= 2;
    Together each{std::move(layout), options.reduce_in_fp32 ? master_type : type, is_sharded, {}};
    each.exact = each.layout.make_buffer().to(master_type);
    const std::vector<at::Tensor>& weights = each.layout.tensors();
    for (std::size_t i = 0; i < weights.size(); ++i) each.layout.view(each.exact, i).copy_(weights[i]);
    if (is_sharded) {
      for (int rank = 0; rank < shards; ++rank) {
        each.masters.push_back(each.layout.shard(each.exact, rank));
        masters_[static_cast<std::size_t>(rank)].push_back(each.masters.back());
      }
    } else {  // one update serves all ranks
      for (std::size_t i = 0; i < weights.size(); ++i) {
        each.masters.push_back(each.layout.view(each.exact, i));
        masters_.front().push_back(each.masters.back());
      }
    }
    together_.push_back(std::move(each));
  }

  /// Adds the gradients of a rank, divided by the number of ranks before they are summed.
  void collect(Together& each) const {
    const std::vector<at::Tensor>& weights = each.layout.tensors();
    const auto options = weights.front().options().requires_grad(false).dtype(each.reduce_type);
    const at::Tensor own = at::zeros({each.layout.numel()}, options);
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i].grad().defined()) each.layout.view(own, i).copy_(weights[i].grad());
    own.mul_(1.0 / ranks_);
    each.gradients = each.gradients.defined() ? each.gradients + own : own;
  }

  Context ctx_;
  TrainedModel& model_;
  training::ModelSetting setting_;
  int ranks_;
  std::vector<Together> together_;
  std::vector<std::vector<at::Tensor>> masters_;  // by rank
  std::vector<std::unique_ptr<torch::optim::Optimizer>> optimizers_;
};

struct Case {
  training::ModelSetting model;
  training::UpdateRule rule;
};

/// The distance of the masters of this rank after the training of a case. Sets `fitting` to false unless gradients have
/// the shape and type of their masters.
kymo::transformer::Distance distance_of(const Case& given, const Context& ctx, kymo::comm::Communicator& communicator,
                                        const training::FsdpOptions& options, bool& fitting) {
  const at::Device device = kymo::libtorch::select_device(ctx);
  const std::uint64_t seed = ctx.seed() + 11;
  const int ranks = ctx.world_size();
  const auto sharded = training::make_model(given.model, device, seed + static_cast<std::uint64_t>(ctx.rank()));
  training::ModelSetting plain = given.model;
  plain.operators.checkpoint = {};
  const auto alone = training::make_model(plain, device, seed);
  training::Replica replica = training::make_replica(ctx, *sharded, communicator, given.rule);
  replica.master_weights.clear();  // the masters are then those of `alone`: the values of its weights
  const training::FsdpStrategy strategy =
      training::make_fsdp(replica, options, training::wrapped_factory("configured", given.rule));
  RankOrder reference(ctx, *alone, options, plain, given.rule);

  at::Generator generator = kymo::libtorch::make_generator(device, seed);
  const Batch batch = sharded->make_batch(kExamples * ranks);
  for (int i = 0; i < kSteps; ++i) {
    sharded->draw(batch, generator);
    strategy.exchange->begin_step();
    run(ctx, *sharded, batch.part(ctx.rank(), ranks), given.model);
    strategy.exchange->finish_step();
    for (const at::Tensor& master : strategy.fsdp->masters()) {
      const at::Tensor& gradient = master.grad();
      fitting = fitting && gradient.defined() && gradient.sizes() == master.sizes() &&
                gradient.scalar_type() == master.scalar_type();
    }
    strategy.update->step();
    reference.step(batch);
  }
  std::vector<at::Tensor> expected = reference.masters(ctx.rank()), actual = strategy.fsdp->masters();
  actual.resize(expected.size());  // only rank 0 has the replicated parameters
  return kymo::transformer::worst_distance(actual, expected);
}

std::vector<Case> cases(const training::ModelSetting& configured) {
  std::vector<Case> all;
  for (const char* rule : {"sgd", "adamw"}) {
    training::UpdateRule update{rule, rule == std::string("sgd") ? 0.05 : 1e-3, configured.operators.adamw()};
    update.adamw.epsilon = 1e-4;  // the order of a sum would change updates by a gradient that is nearly 0
    for (const char* name : {"toy", "tied", "frozen", "tiny"}) {
      training::ModelSetting model = configured;
      model.name = name;
      model.context = 16;
      model.vocabulary = 1000;
      all.push_back({model, update});
    }
  }
  all.back().model.tied_embedding = !configured.tied_embedding;
  return all;
}

}  // namespace

void expect_equal_to_rank_order(kymo::Verification& result, const Context& ctx, kymo::comm::Communicator& communicator,
                                const training::FsdpOptions& options, const training::ModelSetting& model) {
  const bool is_narrow = model.operators.dtype != at::kFloat || model.operators.autocast;
  const double tolerance = is_narrow ? 1e-4 : ctx.world_size() > 2 ? 1e-6 : 0;
  bool fitting = true;
  for (const Case& each : cases(model)) {
    kymo::transformer::Distance worst;
    for (int i = 0; i < kRepeats; ++i) {
      const kymo::transformer::Distance one = distance_of(each, ctx, communicator, options, fitting);
      if (!(one.relative <= worst.relative)) worst = one;
    }
    kymo::transformer::expect_close(result,
                                    each.model.name + (each.model.tied_embedding ? " with tied embedding" : "") + ", " +
                                        std::to_string(kSteps) + " steps of " + each.rule.name + ", " +
                                        std::to_string(kRepeats) + " times",
                                    "one process, the parts of the ranks in rank order", worst, tolerance);
  }
  result.that(fitting, "gradients have the shape and type of the master weights", "master weights");
}

// SPDX-License-Identifier: Apache-2.0
#include "schemes.hpp"

#include <kymo/torch.hpp>
#include <stdexcept>
#include <utility>

#include "training/flat_layout.hpp"
#include "training/fused_adamw.hpp"
#include "training/zero1.hpp"

namespace {

namespace training = kymo::training;
namespace transformer = kymo::transformer;
using kymo::Context;

/// Reports the state of an optimizer to the host as it is allocated.
class StateReport {
 public:
  StateReport(const Context& ctx, bool report) : ctx_(ctx), report_(report) {}

  template <typename Sharded>
  void report(const Sharded& optimizer, bool stepped) {
    if (reported_ || (!stepped && !ctx_.host()->tag)) return;
    const std::vector<at::Tensor> state = state_of(optimizer);
    for (const at::Tensor& tensor : state) kymo::libtorch::tag(ctx_, tensor, kymo::Block::OptimizerState);
    if (!stepped) return;
    if (report_) ctx_.metric("optimizer_state_bytes", static_cast<double>(training::bytes_of(state)), "B");
    reported_ = true;
  }

 private:
  template <typename Sharded>
  static std::vector<at::Tensor> state_of(const Sharded& optimizer) {
    return optimizer.state_tensors();
  }
  static std::vector<at::Tensor> state_of(const torch::optim::Optimizer& optimizer) {
    return training::state_tensors(optimizer);
  }

  Context ctx_;
  bool report_;
  bool reported_ = false;
};

/// Every rank updates all parameters.
class ReplicatedUpdate final : public training::ParameterUpdate {
 public:
  ReplicatedUpdate(const training::Replica& replica, const training::OptimizerFactory& make, bool report)
      : ctx_(replica.ctx),
        optimizer_(training::make_optimizer(make, torch::optim::OptimizerParamGroup(replica.parameters),
                                            replica.master_weights)),
        state_(replica.ctx, report) {
    state_.report(*optimizer_, false);
  }
  void step() override {
    auto scope = ctx_.scope("update");
    optimizer_->step();
    state_.report(*optimizer_, true);
  }
  void warm_up() override { training::warm_up(*optimizer_); }

 private:
  Context ctx_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  StateReport state_;
};

void tag_parameters(const Context& ctx, const std::vector<at::Tensor>& buffers) {
  for (const at::Tensor& buffer : buffers) kymo::libtorch::tag(ctx, buffer, kymo::Block::Parameter);
}

class BroadcastUpdate final : public training::ParameterUpdate {
 public:
  BroadcastUpdate(const Scheme& scheme, const training::Replica& replica, const training::OptimizerFactory& make,
                  bool report)
      : ctx_(replica.ctx),
        communicates_(scheme.communicate),
        optimizer_(replica.parameters, make, *replica.communicator, {.flat = scheme.flat, .pieces = scheme.pieces},
                   replica.master_weights),
        state_(replica.ctx, report) {
    tag_parameters(ctx_, optimizer_.parameter_buffers());
    state_.report(optimizer_, false);
  }
  void step() override {
    for (int piece = 0; piece < optimizer_.pieces(); ++piece) {
      {
        auto scope = ctx_.scope("update");
        optimizer_.update(piece);
      }
      if (!communicates_) continue;
      auto scope = ctx_.scope("broadcast");
      optimizer_.begin_broadcast(piece);
    }
    optimizer_.finish_broadcast();
    state_.report(optimizer_, true);
  }
  void warm_up() override { optimizer_.warm_up(); }
  std::int64_t owned_bytes() const { return training::bytes_of(optimizer_.owned_parameters()); }

 private:
  Context ctx_;
  bool communicates_;
  training::ShardedOptimizer optimizer_;
  StateReport state_;
};

class Zero1Exchange final : public training::GradientExchange, private transformer::WeightUse {
 public:
  /// With a model, its parameters are gathered during its forward pass.
  Zero1Exchange(std::shared_ptr<training::Zero1> zero, training::TrainedModel* gathered)
      : zero_(std::move(zero)), gathered_(gathered) {
    if (gathered_) gathered_->watch(this);
  }
  Zero1Exchange(const Zero1Exchange&) = delete;
  Zero1Exchange& operator=(const Zero1Exchange&) = delete;
  ~Zero1Exchange() override {
    if (gathered_) gathered_->watch(nullptr);
  }
  void begin_step() override { zero_->begin_step(); }
  void finish_step() override { zero_->finish_step(); }
  void complete_parameters() override {
    if (gathered_) zero_->gather_parameters();
  }

 private:
  void begin(const at::Tensor& weight) override { zero_->await_parameter(weight); }
  void end(const at::Tensor& /*weight*/, const at::Tensor& /*result*/, bool /*in_backward*/) override {}

  std::shared_ptr<training::Zero1> zero_;
  training::TrainedModel* gathered_;
};

class Zero1Update final : public training::ParameterUpdate {
 public:
  Zero1Update(const Context& ctx, std::shared_ptr<training::Zero1> zero, bool communicates, bool report)
      : ctx_(ctx), zero_(std::move(zero)), communicates_(communicates), state_(ctx, report) {
    tag_parameters(ctx_, zero_->parameter_buffers());
    for (const at::Tensor& buffer : zero_->gradient_buffers()) kymo::libtorch::tag(ctx_, buffer, kymo::Block::Gradient);
    state_.report(*zero_, false);
  }
  void step() override {
    {
      auto scope = ctx_.scope("update");
      zero_->update();
    }
    if (communicates_) {
      auto scope = ctx_.scope("all_gather");
      zero_->gather_parameters();
    }
    state_.report(*zero_, true);
  }
  void warm_up() override { zero_->warm_up(); }

 private:
  Context ctx_;
  std::shared_ptr<training::Zero1> zero_;
  bool communicates_;
  StateReport state_;
};

Halves make_zero1(const Scheme& scheme, const training::Replica& replica, const training::OptimizerFactory& make,
                  bool report) {
  training::Zero1::Options options;
  if (scheme.bucket_mib > 0) options.bucket_bytes = scheme.bucket_mib * 1048576.0;
  options.overlap = scheme.overlap;
  auto zero = std::make_shared<training::Zero1>(torch::optim::OptimizerParamGroup(replica.parameters), make,
                                                *replica.communicator, options, replica.master_weights);
  Halves halves;
  halves.owned_bytes = zero->owned_bytes();
  halves.exchange = std::make_unique<Zero1Exchange>(zero, scheme.overlap ? replica.model : nullptr);
  halves.update = std::make_unique<Zero1Update>(replica.ctx, std::move(zero), !scheme.overlap, report);
  return halves;
}

}  // namespace

std::vector<std::string> scheme_names() { return {"none", "broadcast", "zero1"}; }

double sent_bytes(const std::string& scheme, int ranks, double gradient_bytes, double parameter_bytes) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (scheme == "zero1") return others * (gradient_bytes + parameter_bytes);
  return others * (2 * gradient_bytes + (scheme == "broadcast" ? parameter_bytes : 0));
}

Halves make_halves(const Scheme& scheme, const training::Replica& replica, const training::OptimizerFactory& make,
                   bool report) {
  if (scheme.name == "zero1") return make_zero1(scheme, replica, make, report);
  Halves halves;
  if (scheme.name == "broadcast") {
    auto update = std::make_unique<BroadcastUpdate>(scheme, replica, make, report);
    halves.owned_bytes = update->owned_bytes();
    halves.update = std::move(update);
  } else if (scheme.name == "none") {
    halves.update = std::make_unique<ReplicatedUpdate>(replica, make, report);
    halves.owned_bytes = training::bytes_of(replica.parameters);
  } else {
    throw std::invalid_argument("unknown scheme '" + scheme.name + "', must be one of none, broadcast, zero1");
  }
  if (scheme.communicate) halves.exchange = training::make_flat_exchange(replica);
  return halves;
}

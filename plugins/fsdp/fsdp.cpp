// SPDX-License-Identifier: Apache-2.0
// Fully sharded data parallelism: each rank holds a shard of the weights, which are gathered shortly before they are
// used, of their gradients and of the optimizer state.
#include "training/fsdp.hpp"

#include <kymo/workload.hpp>
#include <string>
#include <utility>

#include "training/trained_model.hpp"
#include "verification.hpp"

namespace {

using kymo::Context;
namespace training = kymo::training;

class FsdpWorkload final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    using kymo::Bool, kymo::Choice, kymo::Int;
    return descriptor("fsdp", 1,
                      "fully sharded data parallelism: each rank holds a part of every weight of a matrix product or "
                      "embedding, with its gradient and optimizer state, in fp32; weights are gathered ahead of their "
                      "use, in the type dtype, and gradients reduce-scattered")
        .family("optimizer_sharding", 1)
        .param("unit", Choice{"weight", {"weight", "block"}}.axis({"weight", "block"}).title("by {}"),
               "what is gathered together: each weight, or the weights of a block")
        .param("prefetch", Int{2}.at_least(0).axis({0, 1, 2, 4}).title("prefetch {}"),
               "when a unit ends its forward or backward pass, the gather for the use this many later begins (a "
               "forward pass that is computed again is a use, too); 1 and 0 overlap nothing but what lies between "
               "units, 0 begins when the unit is needed")
        .param("reshard_after_forward", Bool{true}.title("not resharded after forward"),
               "free the gathered weights after forward and gather them again in backward; false keeps them")
        .param("reduce_dtype", Choice{"fp32", {"fp32", "weights"}}.title("reduced in {}"),
               "type in which gradients are summed: fp32, or that of the weights")
        .param("wrapped", Choice{"configured", training::wrapped_names()}.title("{}").setting(),
               training::kWrappedText);
  }

  void prepare(Context& ctx) override {
    if (!ctx.boolean("communicate") && ctx.world_size() > 1)
      ctx.skip("fsdp cannot run without communication: a rank has only parts of the weights");
    if (ctx.text("optimizer_state") == "fp32")
      ctx.skip("optimizer_state=fp32 has no effect: fsdp holds fp32 master weights with fp32 moments");
    options_ = {ctx.text("unit") == "block", static_cast<int>(ctx.integer("prefetch")),
                ctx.boolean("reshard_after_forward"), ctx.text("reduce_dtype") == "fp32"};
    model_.attention = ctx.text("attention");
    model_.tied_embedding = ctx.boolean("tied_embedding");
    model_.operators = training::read_operators(ctx);
    wrapped_ = ctx.text("wrapped");
    DataParallelWorkload::prepare(ctx);
    ctx.metric("parameter_bytes", static_cast<double>(fsdp_->parameter_bytes()), "B");
    ctx.metric("owned_parameter_bytes", static_cast<double>(training::bytes_of(fsdp_->masters())), "B");
  }

  kymo::Verification verify(Context& ctx) override {
    verifying_ = true;
    kymo::Verification result = DataParallelWorkload::verify(ctx);
    expect_equal_to_rank_order(result, ctx, *communicator_, options_, model_);
    return result;
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const training::Replica& replica) override {
    training::FsdpStrategy strategy = training::make_fsdp(
        replica, options_, training::wrapped_factory(verifying_ ? "configured" : wrapped_, replica.rule), !verifying_);
    update_ = std::move(strategy.update);
    if (!verifying_) {
      fsdp_ = std::move(strategy.fsdp);
      communicator_ = replica.communicator;
    }
    return std::move(strategy.exchange);
  }

  /// Called after make_exchange() for the same replica.
  std::unique_ptr<training::ParameterUpdate> make_update(const training::Replica&) override {
    return std::move(update_);
  }

  std::string other_optimizer(const Context& ctx) const override {
    return wrapped_ == "configured" ? DataParallelWorkload::other_optimizer(ctx) : "wrapped=" + wrapped_;
  }

 private:
  training::FsdpOptions options_;
  training::ModelSetting model_;
  std::string wrapped_;
  bool verifying_ = false;
  kymo::comm::Communicator* communicator_ = nullptr;
  std::shared_ptr<const training::Fsdp> fsdp_;
  std::unique_ptr<training::ParameterUpdate> update_;  // created with the exchange, returned by make_update()
};

}  // namespace

KYMO_EXPORT_WORKLOADS(FsdpWorkload)

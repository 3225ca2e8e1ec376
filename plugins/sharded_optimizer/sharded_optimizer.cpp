// SPDX-License-Identifier: Apache-2.0
// Data-parallel training with the optimizer state sharded over the ranks, by broadcast from owners or as ZeRO stage 1,
// or not sharded.
#include <utility>

#include "schemes.hpp"
#include "training/data_parallel.hpp"
#include "training/flat_layout.hpp"

namespace {

using kymo::Context;
namespace training = kymo::training;

class ShardedOptimizerWorkload final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    using kymo::Bool, kymo::Choice, kymo::Int, kymo::Real;
    return descriptor("sharded_optimizer", 0,
                      "data-parallel training with the optimizer state and update sharded over the ranks, by one of "
                      "two schemes or not at all")
        .family("optimizer_sharding")
        .param("scheme", Choice{"broadcast", scheme_names()}.axis(scheme_names()).title("{}", kymo::Shown::Always),
               "none: every rank updates everything. broadcast: each parameter has an owner, which holds its state and "
               "broadcasts it. zero1: ZeRO stage 1, i.e. gradients are reduce-scattered, each rank updates its part of "
               "a flat buffer, and the parts are all-gathered")
        .param("wrapped", Choice{"configured", training::wrapped_names()}.title("{}").setting(), training::kWrappedText)
        .param("flat", Bool{true}.title(" one by one"),
               "scheme=broadcast: send all parameters of an owner and piece in one message; false sends each parameter "
               "separately")
        .param("pieces", Int{4}.at_least(1).at_most(64).axis({1, 4}).title("{} pieces"),
               "scheme=broadcast: number of equally sized pieces of the update; each is broadcast while the next is "
               "updated")
        .param("bucket_mb", Real{100}.at_least(0).unit("MiB").axis({0, 10, 100, 1000}).title("{} MiB"),
               "scheme=zero1: bucket size for reduce-scatter and all-gather; 0 uses a single bucket")
        .param("overlap", Bool{true}.title(" after backward"),
               "scheme=zero1: reduce a bucket as soon as backward has computed its gradients, and gather it while the "
               "next forward pass uses the buckets before it; false waits for the end of backward, and gathers after "
               "the update");
  }

  void prepare(Context& ctx) override {
    scheme_ = {ctx.text("scheme"),    ctx.boolean("flat"),    static_cast<int>(ctx.integer("pieces")),
               ctx.real("bucket_mb"), ctx.boolean("overlap"), ctx.boolean("communicate")};
    wrapped_ = ctx.text("wrapped");
    if (scheme_.name == "zero1" && !scheme_.communicate && ctx.world_size() > 1)
      ctx.skip(
          "scheme=zero1 cannot run without communication because its gradients are reduced in place; use scheme=none "
          "or broadcast");
    DataParallelWorkload::prepare(ctx);
    const auto bytes = static_cast<double>(parameter_bytes_);
    ctx.metric("parameter_bytes", bytes, "B");
    ctx.metric("owned_parameter_bytes", static_cast<double>(owned_bytes_), "B");
    ctx.metric("communication_bytes_per_step",
               scheme_.communicate ? sent_bytes(scheme_.name, ctx.world_size(), bytes, bytes) : 0, "B");
  }

  kymo::Verification verify(Context& ctx) override {
    verifying_ = true;
    kymo::Verification result = DataParallelWorkload::verify(ctx);
    if (scheme_.communicate && communicator_)
      expect_equal_to_unsharded(result, ctx, *communicator_, scheme_, wrapped_, rule_);
    return result;
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const training::Replica& replica) override {
    Halves halves = make(replica);
    update_ = std::move(halves.update);
    return std::move(halves.exchange);
  }

  /// Called after make_exchange() for the same replica; with communicate=false, that call does not happen.
  std::unique_ptr<training::ParameterUpdate> make_update(const training::Replica& replica) override {
    return update_ ? std::move(update_) : make(replica).update;
  }

  std::string other_optimizer(const Context& ctx) const override {
    return wrapped_ == "configured" ? DataParallelWorkload::other_optimizer(ctx) : "wrapped=" + wrapped_;
  }

 private:
  Halves make(const training::Replica& replica) {
    // Verification specifies its own rules, so that they can be compared with a single process.
    Halves halves = make_halves(
        scheme_, replica, training::wrapped_factory(verifying_ ? "configured" : wrapped_, replica.rule), !verifying_);
    if (!verifying_) {
      communicator_ = replica.communicator;
      rule_ = replica.rule;
      parameter_bytes_ = training::bytes_of(replica.parameters);
      owned_bytes_ = halves.owned_bytes;
    }
    return halves;
  }

  Scheme scheme_;
  std::string wrapped_;
  training::UpdateRule rule_;
  bool verifying_ = false;
  kymo::comm::Communicator* communicator_ = nullptr;
  std::int64_t parameter_bytes_ = 0, owned_bytes_ = 0;
  std::unique_ptr<training::ParameterUpdate> update_;  // created with the exchange, returned by make_update()
};

}  // namespace

KYMO_EXPORT_WORKLOADS(ShardedOptimizerWorkload)

// SPDX-License-Identifier: Apache-2.0
// Fully sharded data parallelism in which the last rank delays one gather of each step, or dies in it.
#include <unistd.h>

#include <chrono>
#include <kymo/workload.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "training/fsdp.hpp"

namespace {

namespace comm = kymo::comm;
namespace training = kymo::training;
using kymo::Context;

constexpr int kGather = 5;  // of the weight at the begin of the second block

/// Passes calls on to another communicator.
class Faulty final : public comm::Communicator {
 public:
  Faulty(const Context& ctx, comm::Communicator& actual) : ctx_(ctx), actual_(actual) {}

  int rank() const override { return actual_.rank(); }
  int size() const override { return actual_.size(); }
  comm::Backend backend() const override { return actual_.backend(); }
  std::unique_ptr<comm::Work> all_reduce(const at::Tensor& tensor, comm::Reduction reduction) override {
    return actual_.all_reduce(tensor, reduction);
  }
  std::unique_ptr<comm::Work> all_reduce(const at::Tensor& output, const at::Tensor& input,
                                         comm::Reduction reduction) override {
    return actual_.all_reduce(output, input, reduction);
  }
  std::unique_ptr<comm::Work> reduce_scatter(const at::Tensor& output, const at::Tensor& input,
                                             comm::Reduction reduction) override {
    return actual_.reduce_scatter(output, input, reduction);
  }
  std::unique_ptr<comm::Work> all_gather(const at::Tensor& output, const at::Tensor& input) override {
    if (gathers_++ == kGather && rank() == size() - 1) fail();
    return actual_.all_gather(output, input);
  }
  std::unique_ptr<comm::Work> broadcast(const at::Tensor& tensor, int root) override {
    return actual_.broadcast(tensor, root);
  }
  void barrier() override { actual_.barrier(); }
  std::string description() const override { return actual_.description(); }

  void begin_step() {
    gathers_ = 0;
    ++steps_;
  }

 private:
  void begin_group() override {}
  void end_group() override {}

  void fail() const {
    if (ctx_.text("fault") == "delay")
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    else if (steps_ == 2)
      _exit(3);
  }

  Context ctx_;
  comm::Communicator& actual_;
  int gathers_ = 0, steps_ = 0;
};

class FaultyExchange final : public training::GradientExchange {
 public:
  FaultyExchange(std::unique_ptr<training::GradientExchange> actual, Faulty& communicator)
      : actual_(std::move(actual)), communicator_(communicator) {}
  void begin_step() override {
    communicator_.begin_step();
    actual_->begin_step();
  }
  void finish_step() override { actual_->finish_step(); }
  void complete_parameters() override { actual_->complete_parameters(); }

 private:
  std::unique_ptr<training::GradientExchange> actual_;
  Faulty& communicator_;
};

class FsdpFaults final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("fsdp_faults", 9, "fully sharded data parallelism in which the last rank fails")
        .param("fault", kymo::Choice{"delay", {"delay", "die"}}, "what the last rank does in a gather");
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const training::Replica& replica) override {
    communicator_ = std::make_unique<Faulty>(replica.ctx, *replica.communicator);
    training::Replica faulty = replica;
    faulty.communicator = communicator_.get();
    training::FsdpStrategy strategy =
        training::make_fsdp(faulty, {}, training::wrapped_factory("configured", replica.rule));
    update_ = std::move(strategy.update);
    return std::make_unique<FaultyExchange>(std::move(strategy.exchange), *communicator_);
  }
  std::unique_ptr<training::ParameterUpdate> make_update(const training::Replica&) override {
    return std::move(update_);
  }

 private:
  std::unique_ptr<Faulty> communicator_;
  std::unique_ptr<training::ParameterUpdate> update_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(FsdpFaults)

// SPDX-License-Identifier: Apache-2.0
// Data parallelism with overlapped communication: each gradient is sent while the backward pass computes the next.
#include <kymo/workload.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

namespace training = kymo::training;
using training::Replica;

class EachWhenReady final : public training::GradientExchange {
 public:
  explicit EachWhenReady(Replica replica)
      : replica_(std::move(replica)),
        calls_(replica_.parameters.size()),
        hooks_(replica_.parameters, [this](std::size_t i) { start(i); }) {}

  void begin_step() override { training::drop_gradients(replica_.parameters); }

  void finish_step() override {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (!calls_[i]) start(i);  // the loss does not depend on it on any rank
    for (auto& call : calls_) {
      call->wait();
      call.reset();
    }
  }

 private:
  void start(std::size_t i) {
    const at::Tensor& gradient = training::gradient_or_zeros(replica_.parameters[i]);
    calls_[i] = replica_.communicator->all_reduce(gradient, kymo::comm::Reduction::kAverage);
  }

  Replica replica_;
  std::vector<std::unique_ptr<kymo::comm::Work>> calls_;  // of this step, per parameter
  training::GradientHooks hooks_;                         // last: it uses the other members
};

class DdpOverlap final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor(
        "ddp_overlap", 2,
        "data-parallel training: one all-reduce per parameter, started during backward as soon as the gradient is "
        "ready. All ranks must compute the same graph, so that they issue calls in the same order");
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const Replica& replica) override {
    return std::make_unique<EachWhenReady>(replica);
  }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpOverlap)

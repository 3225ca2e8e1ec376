// SPDX-License-Identifier: Apache-2.0
// Data parallelism in its simplest form: once all gradients are available, average them one after another.
#include <kymo/workload.hpp>
#include <memory>
#include <utility>

#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

namespace training = kymo::training;
using training::Replica;

class OneByOne final : public training::GradientExchange {
 public:
  explicit OneByOne(Replica replica) : replica_(std::move(replica)) {}

  void begin_step() override { training::drop_gradients(replica_.parameters); }

  void finish_step() override {
    for (const at::Tensor& parameter : replica_.parameters) {
      const at::Tensor& gradient = training::gradient_or_zeros(parameter);
      replica_.communicator->all_reduce(gradient, kymo::comm::Reduction::kAverage)->wait();
    }
  }

 private:
  Replica replica_;
};

class DdpNaive final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_naive", 0, "data-parallel training: one blocking all-reduce per parameter after backward");
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const Replica& replica) override {
    return std::make_unique<OneByOne>(replica);
  }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpNaive)

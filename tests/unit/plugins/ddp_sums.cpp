// SPDX-License-Identifier: Apache-2.0
// An incorrect data-parallel strategy that sums gradients without dividing. Verification must detect it.
#include <kymo/workload.hpp>
#include <memory>
#include <utility>

#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

using kymo::training::Replica;

class Sums final : public kymo::training::GradientExchange {
 public:
  explicit Sums(Replica replica) : replica_(std::move(replica)) {}
  void begin_step() override { kymo::training::drop_gradients(replica_.parameters); }
  void finish_step() override {
    for (const at::Tensor& parameter : replica_.parameters)
      replica_.communicator->all_reduce(kymo::training::gradient_or_zeros(parameter), kymo::comm::Reduction::kSum)
          ->wait();
  }

 private:
  Replica replica_;
};

class DdpSums final : public kymo::training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() { return descriptor("ddp_sums", 9, "forgets to divide by the number of ranks"); }

 protected:
  std::unique_ptr<kymo::training::GradientExchange> make_exchange(const Replica& replica) override {
    return std::make_unique<Sums>(replica);
  }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpSums)

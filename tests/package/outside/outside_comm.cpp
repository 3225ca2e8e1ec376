// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/ones.h>

#include <kymo/communicator.hpp>
#include <kymo/workload.hpp>
#include <memory>

namespace {

struct Sums final : kymo::Workload {
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"outside_comm", "sums ones over ranks"}.uses(kymo::Framework::LibTorch);
  }
  void prepare(kymo::Context& ctx) override { ranks_ = kymo::comm::make_communicator(ctx, kymo::comm::Backend::kGloo); }
  void step(kymo::Context&) override { sum(); }
  kymo::Verification verify(kymo::Context&) override {
    return kymo::Verification{}.that(sum().sum().item<float>() == 8.0f * static_cast<float>(ranks_->size()), "sum",
                                     "8 ones of each rank");
  }
  at::Tensor sum() {
    at::Tensor ones = at::ones({8});
    ranks_->all_reduce(ones, kymo::comm::Reduction::kSum)->wait();
    return ones;
  }
  std::unique_ptr<kymo::comm::Communicator> ranks_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Sums)

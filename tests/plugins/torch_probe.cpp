// SPDX-License-Identifier: Apache-2.0
// A minimal LibTorch workload. Built a second time without `uses`, so that only the note declares LibTorch.
#include <torch/types.h>

#include <kymo/workload.hpp>

namespace {

class TorchProbe final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    kymo::Descriptor descriptor{KYMO_PLUGIN_NAME, "adds two tensors"};
    descriptor.param("n", kymo::Int{1024}.at_least(1).unit("elements"), "length of each tensor").phases({"compute"});
#ifdef WITHOUT_USES
    return descriptor;
#else
    return descriptor.uses(kymo::Framework::LibTorch);
#endif
  }
  void prepare(kymo::Context& ctx) override {
    const auto device = ctx.is_cuda() ? torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(ctx.device_index()))
                                      : torch::Device(torch::kCPU);
    x_ = torch::ones({ctx.integer("n")}, device);
    y_ = torch::zeros({ctx.integer("n")}, device);
  }
  void step(kymo::Context& ctx) override {
    auto phase = ctx.phase("compute");
    y_.add_(x_, 2.0);
  }
  kymo::Verification verify(kymo::Context&) override {
    const double largest = torch::add(y_, x_, 2.0).max().item<double>();
    return kymo::Verification{}.that(largest == 2.0, "sum", "0 + 2 * 1",
                                     "largest element is " + std::to_string(largest));
  }

 private:
  torch::Tensor x_, y_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(TorchProbe)

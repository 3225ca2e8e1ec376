// SPDX-License-Identifier: Apache-2.0
// Data parallelism with one call: all gradients are in one buffer, which is averaged after the backward pass.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>

#include <kymo/workload.hpp>
#include <memory>
#include <utility>

#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

namespace training = kymo::training;
using kymo::comm::Reduction;
using training::Replica;

/// The standard variant: the gradients are copied into a buffer, and the means back.
class CopiedTogether final : public training::GradientExchange {
 public:
  explicit CopiedTogether(Replica replica) : replica_(std::move(replica)) {}

  void begin_step() override { training::drop_gradients(replica_.parameters); }

  void finish_step() override {
    const c10::NoGradGuard no_gradients;
    std::vector<at::Tensor> gradients, flat, means;
    for (const at::Tensor& parameter : replica_.parameters) {
      gradients.push_back(training::gradient_or_zeros(parameter));
      flat.push_back(gradients.back().reshape({-1}));
    }
    const at::Tensor buffer = at::cat(flat);
    replica_.communicator->all_reduce(buffer, Reduction::kAverage)->wait();
    std::int64_t offset = 0;
    for (const at::Tensor& gradient : gradients) {
      means.push_back(buffer.narrow(0, offset, gradient.numel()).view_as(gradient));
      offset += gradient.numel();
    }
    at::_foreach_copy_(gradients, means);
  }

 private:
  Replica replica_;
};

class DdpFlat final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_flat", 1, "data-parallel training: one all-reduce of all gradients after backward")
        .param("copy", kymo::Bool{false}.title("copied"),
               "true: copy the gradients into the buffer and the means back; false: keep the gradients in the buffer, "
               "which backward accumulates into");
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const Replica& replica) override {
    if (replica.ctx.boolean("copy")) return std::make_unique<CopiedTogether>(replica);
    return training::make_flat_exchange(replica);
  }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpFlat)

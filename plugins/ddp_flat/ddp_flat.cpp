// SPDX-License-Identifier: Apache-2.0
// Data parallelism with one call per data type: all gradients of a type are in one buffer, which is averaged after the
// backward pass.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>

#include <kymo/workload.hpp>
#include <memory>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"

namespace {

namespace training = kymo::training;
using kymo::comm::Reduction;
using training::Replica;

/// The standard variant: the gradients are copied into a buffer, and the means back.
class CopiedTogether final : public training::GradientExchange {
 public:
  explicit CopiedTogether(const Replica& replica)
      : communicator_(*replica.communicator), by_type_(training::split_by_type(replica.parameters)) {}

  void begin_step() override {
    for (const auto& parameters : by_type_) training::drop_gradients(parameters);
  }
  void finish_step() override {
    const c10::NoGradGuard no_gradients;
    for (const auto& parameters : by_type_) average(parameters);
  }

 private:
  void average(const std::vector<at::Tensor>& parameters) {
    std::vector<at::Tensor> gradients, flat, means;
    for (const at::Tensor& parameter : parameters) {
      gradients.push_back(training::gradient_or_zeros(parameter));
      flat.push_back(gradients.back().reshape({-1}));
    }
    const at::Tensor buffer = at::cat(flat);
    communicator_.all_reduce(buffer, Reduction::kAverage)->wait();
    std::int64_t offset = 0;
    for (const at::Tensor& gradient : gradients) {
      means.push_back(buffer.narrow(0, offset, gradient.numel()).view_as(gradient));
      offset += gradient.numel();
    }
    at::_foreach_copy_(gradients, means);
  }

  kymo::comm::Communicator& communicator_;
  std::vector<std::vector<at::Tensor>> by_type_;  // of parameters, whose gradients have their types
};

class DdpFlat final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_flat", 1,
                      "data-parallel training: one all-reduce of all gradients, of each data type, after backward")
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

// SPDX-License-Identifier: Apache-2.0
// Data parallelism with LibTorch's own reducer, the one inside PyTorch's DistributedDataParallel, without Python.
#include <kymo/workload.hpp>
#include <limits>
#include <memory>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "process_group.hpp"
#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

using kymo::training::Replica;

class TorchReducer final : public kymo::training::GradientExchange {
 public:
  TorchReducer(const Replica& replica, const ProcessGroupPointer& group, double bucket_mib)
      : parameters_(replica.parameters) {
    const std::vector<bool> sparse(parameters_.size(), false);
    // Like DistributedDataParallel, start with one bucket for everything, which is rebuilt after the first step in the
    // order in which the gradients became ready.
    auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
        parameters_, {static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())}, sparse));
    constexpr std::int64_t kFirstBucketBytes = 1 << 20;
    const auto bytes = static_cast<std::int64_t>(bucket_mib * 1048576.0);
    reducer_ = std::make_shared<c10d::Reducer>(
        parameters_, std::move(buckets), group, sparse, bytes, /*find_unused_parameters=*/false,
        /*gradient_as_bucket_view=*/true, std::unordered_map<std::size_t, std::string>{},
        std::min(bytes, kFirstBucketBytes), /*skip_all_reduce_unused_params=*/false,
        /*use_python_reducer=*/false, std::vector<std::int64_t>{});
  }
  ~TorchReducer() override { reducer_->remove_autograd_hooks(); }

  void begin_step() override {
    kymo::training::drop_gradients(
        parameters_);  // like PyTorch's zero_grad(): the reducer then copies them into its buckets
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();
    reducer_->prepare_for_backward({});
  }
  void finish_step() override {}  // the reducer itself waits at the end of the backward pass

 private:
  std::vector<at::Tensor> parameters_;
  std::shared_ptr<c10d::Reducer> reducer_;
};

class DdpTorch final : public kymo::training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_torch",
                      "data-parallel training with the reducer of PyTorch's DistributedDataParallel. It waits in the "
                      "phase backward, and its calls are not recorded as collectives: a trace shows only their kernels")
        .param("bucket_mb", kymo::Real{25}.at_least(0).unit("MiB").axis({1, 10, 25, 100, 1000}),
               "close a bucket once it reaches this size in MiB (2^20 bytes); the first one at 1 MiB");
  }

 protected:
  std::unique_ptr<kymo::training::GradientExchange> make_exchange(const Replica& replica) override {
    if (!group_) group_ = make_process_group(replica.ctx, replica.communicator->backend());
    return std::make_unique<TorchReducer>(replica, group_, replica.ctx.real("bucket_mb"));
  }

 private:
  ProcessGroupPointer group_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpTorch)

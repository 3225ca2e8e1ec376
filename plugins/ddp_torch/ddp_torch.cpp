// SPDX-License-Identifier: Apache-2.0
// Data parallelism with LibTorch's own reducer, the one inside PyTorch's DistributedDataParallel, without Python.
#include <chrono>
#include <cstdlib>
#include <kymo/communicator.hpp>
#include <kymo/context.hpp>
#include <kymo/workload.hpp>
#include <limits>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

namespace training = kymo::training;
using training::Replica;
using ProcessGroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;
using c10d::ProcessGroup;
using StorePointer = c10::intrusive_ptr<c10d::Store>;
using BackendPointer = c10::intrusive_ptr<c10d::Backend>;

constexpr std::chrono::minutes kDeadline{2};

/// The store that the workload's communicator used for its rendezvous: rank 0 already serves it and shares it within
/// its process.
StorePointer open_store(const kymo::Context& ctx) {
  if (ctx.world_size() == 1) return c10::make_intrusive<c10d::HashStore>();
  const kymo::Rendezvous where = ctx.rendezvous();
  c10d::TCPStoreOptions settings;
  settings.port = where.port;
  settings.isServer = ctx.rank() == 0;
  settings.multiTenant = true;
  settings.waitWorkers = false;
  settings.timeout = kDeadline;
  const auto store = c10::make_intrusive<c10d::TCPStore>(where.host, settings);
  // A worker may run several cases: each uses its own key prefix, from a per-rank counter.
  const std::int64_t number = store->add("ddp_torch/created by/" + std::to_string(ctx.rank()), 1);
  return c10::make_intrusive<c10d::PrefixStore>("ddp_torch/" + std::to_string(number), store);
}

std::shared_ptr<::gloo::transport::Device> choose_device(const kymo::Context& ctx) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface && *interface)
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  const std::string host = ctx.rendezvous().host;
  if (host.empty() || host == "localhost" || host.rfind("127.", 0) == 0)
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

BackendPointer make_gloo(const kymo::Context& ctx, const StorePointer& store) {
  auto settings = c10d::ProcessGroupGloo::Options::create();
  settings->devices.push_back(choose_device(ctx));
  settings->timeout = kDeadline;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, ctx.rank(), ctx.world_size(), settings);
}

BackendPointer make_nccl(const kymo::Context& ctx, const StorePointer& store) {
  auto settings = c10d::ProcessGroupNCCL::Options::create();
  settings->timeout = kDeadline;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, ctx.rank(), ctx.world_size(), settings);
}

/// LibTorch's own process group of the run's ranks, independent of kymo's communicators. Every rank must call this.
/// Uses the run's rendezvous with its own key prefix and times out after two minutes.
ProcessGroupPointer make_process_group(const kymo::Context& ctx, kymo::comm::Backend backend) {
  const StorePointer store = open_store(ctx);
  const bool on_gpu = backend == kymo::comm::Backend::kNccl;
  const auto kind = on_gpu ? ProcessGroup::BackendType::NCCL : ProcessGroup::BackendType::GLOO;
  auto group = c10::make_intrusive<ProcessGroup>(store, ctx.rank(), ctx.world_size());
  group->setBackend(ctx.is_cuda() ? at::kCUDA : at::kCPU, kind, on_gpu ? make_nccl(ctx, store) : make_gloo(ctx, store));
  group->setDefaultBackend(kind);
  group->setGroupName("ddp_torch");
  return group;
}

class TorchReducer final : public training::GradientExchange {
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
    training::drop_gradients(parameters_);  // like PyTorch's zero_grad(): the reducer then copies them into its buckets
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();
    reducer_->prepare_for_backward({});
  }
  void finish_step() override {}  // the reducer itself waits at the end of the backward pass

 private:
  std::vector<at::Tensor> parameters_;
  std::shared_ptr<c10d::Reducer> reducer_;
};

class DdpTorch final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_torch", 4,
                      "data-parallel training with the reducer of PyTorch's DistributedDataParallel. It waits in the "
                      "phase backward, and its calls are not recorded as collectives: a trace shows only their kernels")
        .param("bucket_mb",
               kymo::Real{25}.at_least(0).unit("MiB").axis({1, 10, 25, 100, 1000}).title("{} MiB", kymo::Shown::Always),
               "close a bucket once it reaches this size in MiB (2^20 bytes); the first one at 1 MiB");
  }

  void prepare(kymo::Context& ctx) override {
    if (ctx.text("execution") == "graph") ctx.skip("execution=graph is not supported: ddp_torch runs eagerly only");
    DataParallelWorkload::prepare(ctx);
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const Replica& replica) override {
    if (!group_) group_ = make_process_group(replica.ctx, replica.communicator->backend());
    return std::make_unique<TorchReducer>(replica, group_, replica.ctx.real("bucket_mb"));
  }

 private:
  ProcessGroupPointer group_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpTorch)

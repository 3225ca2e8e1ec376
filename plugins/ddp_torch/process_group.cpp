// SPDX-License-Identifier: Apache-2.0
#include "process_group.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace {

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
  const std::int64_t number = store->add("ddp_torch/made by/" + std::to_string(ctx.rank()), 1);
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

}  // namespace

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

// SPDX-License-Identifier: Apache-2.0
#include <kymo/communicator.hpp>
#include <stdexcept>

#include "backends.hpp"
#include "call.hpp"
#include "rendezvous.hpp"

namespace kymo::comm {

const char* to_string(Backend backend) { return backend == Backend::kNccl ? "nccl" : "gloo"; }

std::vector<std::string> backend_names() { return {"auto", "gloo", "nccl"}; }

Backend backend_of(const std::string& name, const Context& ctx) {
  if (name == "gloo") return Backend::kGloo;
  if (name == "auto") return ctx.is_cuda() ? Backend::kNccl : Backend::kGloo;
  if (name != "nccl") throw std::invalid_argument("unknown backend '" + name + "': expected one of auto, gloo, nccl");
  if (!ctx.is_cuda())
    throw std::invalid_argument("the nccl backend needs a GPU, but this run uses the CPU: use gloo or --device cuda");
  return Backend::kNccl;
}

namespace {
[[noreturn]] std::unique_ptr<Work> unsupported(Operation operation) {
  throw std::logic_error(std::string("this communicator does not support ") + to_string(operation));
}
}  // namespace

std::unique_ptr<Work> Communicator::reduce(const at::Tensor&, Reduction, int) { unsupported(Operation::Reduce); }
std::unique_ptr<Work> Communicator::gather(const at::Tensor&, const at::Tensor&, int) {
  unsupported(Operation::Gather);
}
std::unique_ptr<Work> Communicator::scatter(const at::Tensor&, const at::Tensor&, int) {
  unsupported(Operation::Scatter);
}
std::unique_ptr<Work> Communicator::all_to_all(const at::Tensor&, const at::Tensor&) {
  unsupported(Operation::AllToAll);
}
std::unique_ptr<Work> Communicator::send(const at::Tensor&, int) { unsupported(Operation::Send); }
std::unique_ptr<Work> Communicator::receive(const at::Tensor&, int) { unsupported(Operation::Receive); }

std::unique_ptr<Communicator> make_communicator(const Context& ctx, Backend backend, const Options& options) {
  if (options.name.empty()) throw std::invalid_argument("a communicator needs a name");
  if (backend == Backend::kNccl && !ctx.is_cuda())
    throw std::invalid_argument("the nccl backend needs a GPU, but this run uses the CPU");
  if (ctx.on_meta()) return make_meta(ctx, backend);
  // Report the rendezvous to the host as a collective call, so that a rank that does not arrive is identified.
  Reporter reporter(ctx, options.name + " rendezvous");
  const Collective waiting = ctx.world_size() > 1 ? reporter.begin(Operation::Barrier, 0, nullptr) : Collective();
  const JoinedRendezvous rendezvous = join_rendezvous(ctx, backend, options);
  return backend == Backend::kNccl ? make_nccl(ctx, rendezvous, options) : make_gloo(ctx, rendezvous, options);
}

}  // namespace kymo::comm

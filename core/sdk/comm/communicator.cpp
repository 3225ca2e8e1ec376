// SPDX-License-Identifier: Apache-2.0
#include <kymo/communicator.hpp>
#include <stdexcept>

#include "call.hpp"
#include "gloo.hpp"
#include "meeting.hpp"
#include "nccl.hpp"

namespace kymo::comm {

const char* to_string(Backend backend) { return backend == Backend::kNccl ? "nccl" : "gloo"; }

std::vector<std::string> backend_names() { return {"auto", "gloo", "nccl"}; }

Backend backend_of(const std::string& name, const Context& ctx) {
  if (name == "gloo") return Backend::kGloo;
  if (name == "auto") return ctx.is_cuda() ? Backend::kNccl : Backend::kGloo;
  if (name != "nccl") throw std::invalid_argument("there is no backend '" + name + "': it is one of auto, gloo, nccl");
  if (!ctx.is_cuda())
    throw std::invalid_argument("the backend nccl needs a GPU, and this run is on the CPU: use gloo, or --device cuda");
  return Backend::kNccl;
}

std::unique_ptr<Communicator> make_communicator(const Context& ctx, Backend backend, const Options& options) {
  if (options.name.empty()) throw std::invalid_argument("a communicator needs a name");
  if (backend == Backend::kNccl && !ctx.is_cuda())
    throw std::invalid_argument("the backend nccl needs a GPU, and this run is on the CPU");
  // To the host the meeting is a call like others: a rank that does not come is the one that the others wait for.
  Reporter reporter(ctx, options.name + " meeting");
  const Collective waiting = ctx.world_size() > 1 ? reporter.begin(Operation::Barrier, 0, nullptr) : Collective();
  const Meeting meeting = meet(ctx, backend, options);
  return backend == Backend::kNccl ? make_nccl(ctx, meeting, options) : make_gloo(ctx, meeting, options);
}

}  // namespace kymo::comm

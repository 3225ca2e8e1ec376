// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/communicator.hpp>
#include <memory>

#include "rendezvous.hpp"

namespace kymo::comm {

/// Connects all ranks with each other. Throws std::runtime_error.
std::unique_ptr<Communicator> make_gloo(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options);

/// Initializes NCCL on the device of this rank. Throws std::runtime_error with NCCL's error message.
std::unique_ptr<Communicator> make_nccl(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options);

/// Collectives on the device meta, which transfer nothing.
std::unique_ptr<Communicator> make_meta(const Context& ctx, Backend backend);

}  // namespace kymo::comm

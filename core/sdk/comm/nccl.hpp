// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/communicator.hpp>
#include <memory>

#include "rendezvous.hpp"

namespace kymo::comm {

/// Initializes NCCL on the device of this rank. Throws std::runtime_error with NCCL's error message.
std::unique_ptr<Communicator> make_nccl(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options);

}  // namespace kymo::comm

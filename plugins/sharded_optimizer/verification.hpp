// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/communicator.hpp>
#include <kymo/context.hpp>
#include <kymo/verification.hpp>
#include <string>

#include "schemes.hpp"

/// Compares 10 steps of the scheme around the wrapped optimizer, with a second group added after 5, with the same
/// unsharded optimizer on every rank, in float64. The parameters must be bitwise equal on all ranks. All ranks must
/// call this together.
void hold_equal_to_unsharded(kymo::Verification& result, const kymo::Context& ctx,
                             kymo::comm::Communicator& communicator, const Scheme& scheme, const std::string& wrapped);

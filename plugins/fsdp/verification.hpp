// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo/communicator.hpp>
#include <kymo/context.hpp>
#include <kymo/verification.hpp>

#include "training/fsdp.hpp"
#include "training/trained_model.hpp"

/// Trains small models on all ranks and, on each rank alone, in one process that runs the parts of all ranks in rank
/// order, sums their gradients in the same way, and updates the same shards. Adds checks that the masters are equal
/// after steps of SGD and AdamW, each repeated five times to find races: bitwise on up to two ranks in fp32, and close
/// otherwise, because more ranks sum in another order. All ranks must call this together.
void expect_equal_to_rank_order(kymo::Verification& result, const kymo::Context& ctx,
                                kymo::comm::Communicator& communicator, const kymo::training::FsdpOptions& options,
                                const kymo::training::ModelSetting& model);

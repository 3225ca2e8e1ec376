// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <kymo/communicator.hpp>
#include <kymo/context.hpp>
#include <kymo/verification.hpp>
#include <memory>
#include <string>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/sharded_optimizer.hpp"

/// How the state and the work of an optimizer are divided among the ranks.
struct Scheme {
  std::string name = "broadcast";  ///< none, broadcast, zero1
  bool flat = true;                ///< broadcast: one message per owner and piece, not per parameter
  int pieces = 1;                  ///< broadcast: pieces of the update, each sent while the next is updated
  double bucket_mib = 0;           ///< zero1: 0 for a single bucket
  bool overlap = true;             ///< zero1: reduce during backward, gather during forward
  bool communicate = true;         ///< false: each rank updates its own parameters and sends nothing
};

/// Returns none, broadcast, zero1.
std::vector<std::string> scheme_names();

/// Minimum bytes that a rank sends per step, averaged over the ranks. With N ranks, G bytes of gradients and P bytes of
/// parameters, an all-reduce sends 2·(N−1)/N·G, a reduce-scatter (N−1)/N·G, an all-gather (N−1)/N·P, and broadcasts of
/// all parameters together also (N−1)/N·P.
double sent_bytes(const std::string& scheme, int ranks, double gradient_bytes, double parameter_bytes);

/// The two halves of a scheme for one set of parameters.
struct Halves {
  std::unique_ptr<kymo::training::GradientExchange> exchange;
  std::unique_ptr<kymo::training::ParameterUpdate> update;
  std::int64_t owned_bytes = 0;  ///< of the parameters that this rank updates
};

/// Reports to the host which memory holds parameters and state; with `report`, also optimizer_state_bytes after the
/// first update. Throws std::invalid_argument for an unknown scheme.
Halves make_halves(const Scheme& scheme, const kymo::training::Replica& replica,
                   const kymo::training::OptimizerFactory& make, bool report);

/// Compares 10 steps of the scheme around the wrapped optimizer, with a second group added after 5, with the same
/// unsharded optimizer on every rank, in float64. The parameters must be bitwise equal on all ranks. All ranks must
/// call this together. The learning rate of the rule is not used.
void expect_equal_to_unsharded(kymo::Verification& result, const kymo::Context& ctx,
                               kymo::comm::Communicator& communicator, const Scheme& scheme, const std::string& wrapped,
                               kymo::training::UpdateRule rule);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/sharded_optimizer.hpp"

/// How the state and the work of an optimizer are divided over the ranks.
struct Scheme {
  std::string name = "broadcast";  ///< none, broadcast, zero1
  bool flat = true;                ///< broadcast: one message an owner and piece, not one a parameter
  int pieces = 1;                  ///< broadcast: of the update, each sent while the next is made
  double bucket_mib = 0;           ///< zero1: 0 is one bucket
  bool overlap = true;             ///< zero1: reduce while backward goes on
  bool communicate = true;         ///< false: each rank updates what it owns and sends nothing
};

/// none, broadcast, zero1.
std::vector<std::string> scheme_names();

/// Bytes that a rank sends in a step at the least, averaged over the ranks: of N, with G bytes of gradients and P of
/// parameters, an all-reduce sends 2·(N−1)/N·G, a reduce-scatter (N−1)/N·G, an all-gather (N−1)/N·P, and so do
/// broadcasts of all parameters together.
double sent_bytes(const std::string& scheme, int ranks, double gradient_bytes, double parameter_bytes);

/// The two halves of a scheme over one set of parameters.
struct Halves {
  std::unique_ptr<kymo::training::GradientExchange> exchange;
  std::unique_ptr<kymo::training::ParameterUpdate> update;
  std::int64_t owned_bytes = 0;  ///< of the parameters that this rank updates
};

/// Tells the host which memory holds parameters and state; with `report` also optimizer_state_bytes after the first
/// update. Throws std::invalid_argument for another name.
Halves make_halves(const Scheme& scheme, const kymo::training::Replica& replica,
                   const kymo::training::OptimizerFactory& make, bool report);

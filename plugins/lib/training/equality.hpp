// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <kymo/context.hpp>
#include <kymo/verification.hpp>
#include <memory>
#include <string>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/data_parallel_settings.hpp"

/// Whether training on several ranks comes to what training in one process comes to.
namespace kymo::training {

/// Makes the parameters of all ranks those of rank 0.
void broadcast_parameters(comm::Communicator& communicator, const std::vector<at::Tensor>& parameters);

/// A number per tensor that follows from all its bits, computed on its device: the sum of its elements' bit patterns,
/// each times an odd number that follows from its place, modulo 2^64.
std::vector<std::int64_t> checksums(const std::vector<at::Tensor>& tensors);

/// Adds a check that each tensor has the same bits on every rank; all ranks call it together.
void hold_same_bits(Verification& result, const std::string& name, const Context& ctx,
                    const std::vector<at::Tensor>& tensors);

/// A strategy and what it runs on.
struct Strategy {
  Context ctx;
  at::Device device;
  comm::Communicator* communicator = nullptr;
  std::function<std::unique_ptr<GradientExchange>(const Replica&)> make_exchange;
  std::function<std::unique_ptr<ParameterUpdate>(const Replica&)> make_update;
};

/// Trains small models in float64 by the strategy and, on every rank for itself, in one process on the whole batch, and
/// adds checks that both come to the same parameters: after 5 steps of SGD and after 10 of AdamW. The model is the
/// configured one if it has at most two million elements, else one of its kind that is small.
void hold_equal_to_one_process(Verification& result, const Strategy& strategy, const DataParallelSettings& settings);

}  // namespace kymo::training

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
#include "training/trained_model.hpp"

/// Checks that training on several ranks is equivalent to training in one process.
namespace kymo::training {

/// Broadcasts the parameters of rank 0 to all ranks. Undefined tensors are left out.
void broadcast_parameters(comm::Communicator& communicator, const std::vector<at::Tensor>& parameters);

/// Adds a check that each tensor is bitwise equal on all ranks. All ranks must call this together.
void expect_bitwise_equal(Verification& result, const std::string& name, const Context& ctx,
                          const std::vector<at::Tensor>& tensors);

/// A strategy and its execution environment.
struct Strategy {
  Context ctx;
  at::Device device;
  comm::Communicator* communicator = nullptr;
  std::function<std::unique_ptr<GradientExchange>(const Replica&)> make_exchange;
  std::function<std::unique_ptr<ParameterUpdate>(const Replica&)> make_update;
  bool graph = false;  ///< its steps are replays of a CUDA graph
};

/// Trains small models in float64 with the strategy and, on every rank independently, in one process on the whole
/// batch with LibTorch's operators. Adds checks that both give the same parameters after 5 steps of SGD and after 10 of
/// AdamW, and, with master weights, the same update in the data types of the run. Uses the model if it has at most two
/// million elements, otherwise a small one of the same kind, and at most two examples per rank.
void expect_equal_to_one_process(Verification& result, const Strategy& strategy, const ModelSetting& model,
                                 std::int64_t batch);

}  // namespace kymo::training

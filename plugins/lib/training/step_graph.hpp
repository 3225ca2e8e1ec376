// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/context.hpp>
#include <memory>

#include "training/step.hpp"

namespace kymo::training {

/// A training step that is captured once into a CUDA graph and replayed from then on, which leaves the host next to
/// nothing to do. What the step reads must stay where it is: write a batch into the tensors that the loss reads. The
/// values of host variables, such as the learning rate, are those of the capture. The step must not wait for the device
/// or draw from a generator, and the optimizer's state must exist beforehand. Gradients and loss lie in memory of the
/// graph's own, where every replay writes them anew.
class StepGraph {
 public:
  /// Throws std::invalid_argument unless `device` is a CUDA device.
  StepGraph(const at::Device& device, StepParts parts);
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;
  ~StepGraph();

  /// Runs the step eagerly, as far as the gradients, on the stream that will be captured: libraries start and choose
  /// their kernels here. Parameters and optimizer stay as they are, gradients are dropped, and the host sees neither
  /// phases nor scopes. What the loss reads must hold a valid batch. The optimizer's kernels are not run: see
  /// FusedAdamW::warm_up(). Waits for the device; not for timed code.
  void warm_up(const Context& ctx, int passes = 3);

  /// One training step on LibTorch's current stream. The first call captures the step, entering the phases of
  /// run_step() as it goes, which does no work on the device; this and every later call then replays it once in the
  /// phase `replay`. Returns the loss, which the next call overwrites; not waited for. An exception in the capture ends
  /// it and passes through; the device may then be unusable.
  at::Tensor run_step(const Context& ctx);

 private:
  struct State;
  void capture(const Context& ctx);

  StepParts parts_;
  std::unique_ptr<State> state_;  // keeps CUDA's headers out of this one
};

}  // namespace kymo::training

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <kymo/context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::training {

/// The passes of a training step.
enum class Mode {
  kForward,          ///< the loss, without recording gradients
  kForwardBackward,  ///< the loss and all gradients
  kTrain,            ///< the loss, all gradients and the parameter update
};

/// Returns forward, forward_backward, train.
std::vector<std::string> mode_names();
/// Throws std::invalid_argument for an unknown name.
Mode mode_of(std::string_view name);

/// The components of a training step.
struct StepDefinition {
  Mode mode = Mode::kTrain;
  std::vector<at::Tensor> parameters;
  std::function<at::Tensor(const Context&)> loss;  ///< runs the forward pass, with scopes for its parts
  std::function<void()> update;                    ///< of the parameters; required by kTrain only
  std::string update_scope = "optimizer";
  std::optional<at::ScalarType> autocast;  ///< of the forward pass
  /// If set, called before the phase forward and between the phases backward and optimizer, for data-parallel
  /// strategies, which open their own phase.
  std::function<void()> before_forward;
  std::function<void(const Context&)> after_backward;
};

/// A context that reports no phases and scopes, for training and evaluation outside of a step.
class QuietContext {
 public:
  explicit QuietContext(const Context& ctx);
  QuietContext(const QuietContext&) = delete;
  QuietContext& operator=(const QuietContext&) = delete;
  const Context& context() const { return context_; }

 private:
  kymo_host host_;
  Context context_;
};

/// Runs one training step: drops the gradients, then runs the phases forward, backward and optimizer as far as the mode
/// requires. Returns the loss, detached and without synchronizing. Throws std::invalid_argument if a component required
/// by the mode is missing.
at::Tensor run_step(const Context& ctx, const StepDefinition& definition);

/// A training step that is captured once into a CUDA graph and then replayed, which leaves almost no work for the host.
/// Inputs must keep their addresses: write a batch into the tensors that the loss reads. Host variables, such as the
/// learning rate, have their values at capture. The step must not synchronize with the device or use a random
/// generator, and the optimizer's state must already exist. Gradients and loss are in the graph's own memory, which
/// every replay overwrites. A graph with collectives must be destroyed before their communicator.
class StepGraph {
 public:
  /// Throws std::invalid_argument unless `device` is a CUDA device.
  StepGraph(const at::Device& device, StepDefinition definition);
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;
  ~StepGraph();

  /// Runs the step eagerly, up to the gradients, on the stream that will be captured, so that libraries initialize and
  /// select their kernels here. Parameters and optimizer are unchanged, gradients are dropped, and the host receives no
  /// phases or scopes. The inputs of the loss must contain a valid batch. The update does not run: see
  /// FusedAdamW::warm_up() and ParameterUpdate::warm_up(). Synchronizes with the device; not for timed code.
  void warm_up(const Context& ctx, int passes = 3);

  /// Runs one training step on LibTorch's current stream. The first call captures the step, entering the phases of
  /// run_step(), which does no work on the device. This and every later call then replays it once in the phase
  /// `replay`. Returns the loss, which the next call overwrites, without synchronizing. An exception during capture
  /// ends the capture and propagates; the device may then be unusable.
  at::Tensor run_step(const Context& ctx);

 private:
  struct State;
  void capture(const Context& ctx);

  StepDefinition definition_;
  std::unique_ptr<State> state_;  // keeps CUDA headers out of this header
};

}  // namespace kymo::training

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/communicator.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <string>
#include <vector>

#include "training/fused_adamw.hpp"
#include "training/step.hpp"
#include "training/trained_model.hpp"

namespace kymo::training {

/// Updates the parameters from their gradients.
class ParameterUpdate {
 public:
  virtual ~ParameterUpdate() = default;
  /// Called in the phase optimizer.
  virtual void step() = 0;
  /// Runs the kernels and collectives of step() without changing parameters or state, before a step is captured into a
  /// CUDA graph.
  virtual void warm_up() {}
};

/// Update rule of the parameters.
struct UpdateRule {
  std::string name = "adamw";
  double learning_rate = 1e-4;
  AdamWSetting adamw{};  ///< of the rule adamw, but for its learning rate

  AdamWSetting adamw_setting() const;
};

/// Returns adamw, sgd.
std::vector<std::string> rule_names();

/// Updates `parameters` by the rule in a few kernels, and reports to the host which memory is optimizer state, which
/// exists when this returns. Parameters without a gradient are unchanged. The parameters, or their fp32 master weights
/// (see FusedAdamW::set_master_weights()), share device and type. Throws std::invalid_argument for an unknown name, and
/// for master weights of a rule that does not use them.
std::unique_ptr<ParameterUpdate> make_replicated_update(const Context& ctx, const UpdateRule& rule,
                                                        std::vector<at::Tensor> parameters,
                                                        const std::vector<at::Tensor>& masters = {});

/// Interface of a data-parallel strategy: averages the gradients of all ranks. Created once per training, after the
/// parameters of all ranks are equal.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;
  /// Called before each forward pass: drops or zeroes the gradients of the previous step, depending on the strategy.
  virtual void begin_step() = 0;
  /// Called in the phase communication, after backward. When it returns, in the order of the current stream, every
  /// gradient is the mean over ranks.
  virtual void finish_step() = 0;
  /// Gathers all parameters until the next step, if a strategy shards them. Not called in steps.
  virtual void complete_parameters() {}
};

/// Inputs of a strategy.
struct Replica {
  Context ctx;
  std::vector<at::Tensor> parameters;  ///< trained parameters, each once, in model order
  comm::Communicator* communicator = nullptr;
  UpdateRule rule{};                         ///< the configured rule, or the one requested by verification
  std::vector<at::Tensor> master_weights{};  ///< of the parameters, until make_update() returns; empty without any
  TrainedModel* model = nullptr;
};

/// Broadcasts the parameters and master weights of rank 0 to all ranks.
Replica make_replica(const Context& ctx, TrainedModel& model, comm::Communicator& communicator, const UpdateRule& rule);

/// One all-reduce of all gradients of a type, which are views of one buffer, so that nothing is copied.
std::unique_ptr<GradientExchange> make_flat_exchange(const Replica& replica);

/// A training step of a model on a batch or on this rank's part of it. It must not outlive its arguments. Without an
/// exchange, gradients are not averaged.
StepDefinition make_step(TrainedModel& model, const Batch& batch, GradientExchange* exchange, ParameterUpdate& update);

/// A graph of the step, ready to be captured. Zeroes the batch of all ranks.
std::unique_ptr<StepGraph> make_graph(const Context& ctx, const at::Device& device, const StepDefinition& step,
                                      const Batch& batch, ParameterUpdate& update);

/// A training step on each rank's part of a batch: forward, backward, communication, optimizer. A strategy's plugin
/// derives from this class and implements the gradient exchange, and the parameter update as well if it shards the
/// optimizer. Both factories are called more than once, because verification trains small models.
class DataParallelWorkload : public Workload {
 public:
  void prepare(Context& ctx) override;
  void before_step(Context& ctx) override;
  void step(Context& ctx) override;
  Verification verify(Context& ctx) override;
  ~DataParallelWorkload() noexcept(false) override;

 protected:
  DataParallelWorkload();
  /// Name, order in the family, documentation, and the parameters and phases common to all strategies; a plugin adds
  /// its own parameters.
  static Descriptor descriptor(const char* name, std::uint32_t order, const char* documentation);
  virtual std::unique_ptr<GradientExchange> make_exchange(const Replica& replica) = 0;
  /// Default: make_replicated_update(), in which every rank updates all parameters by the replica's rule.
  virtual std::unique_ptr<ParameterUpdate> make_update(const Replica& replica);
  /// The parameter that selects another optimizer than FusedAdamW, such as "optimizer=sgd"; empty if none does.
  virtual std::string other_optimizer(const Context& ctx) const;

 private:
  struct State;
  void make_replica();
  void make_training();
  void declare();

  std::unique_ptr<State> state_;
};

}  // namespace kymo::training

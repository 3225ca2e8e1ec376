// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <kymo/communicator.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <vector>

#include "training/parameter_update.hpp"

namespace kymo::training {

/// The idea of a data-parallel strategy: how the gradients of all ranks become their mean. Made once per training,
/// after the parameters of all ranks are equal.
class GradientExchange {
 public:
  virtual ~GradientExchange() = default;
  /// Before each forward pass: drops or zeroes the gradients of the step before, as the strategy keeps them.
  virtual void begin_step() = 0;
  /// In the phase communication, after backward: once it returns, in the order of the current stream, every gradient is
  /// the mean over ranks.
  virtual void finish_step() = 0;
};

/// What a strategy works on.
struct Replica {
  Context ctx;
  std::vector<at::Tensor> parameters;  ///< those that are trained, each once, in the order of the model
  comm::Communicator* communicator = nullptr;
  UpdateRule rule;  ///< the configured one, or what verification asks for
};

/// A training step on every rank's share of a batch: forward, backward, communication, optimizer. A strategy's plugin
/// derives from it and says how gradients are exchanged; one that shards the optimizer says how parameters are updated
/// as well. Both are asked for more than once: verification trains small models of its own.
class DataParallelWorkload : public Workload {
 public:
  void prepare(Context& ctx) override;
  void before_step(Context& ctx) override;
  void step(Context& ctx) override;
  Verification verify(Context& ctx) override;
  ~DataParallelWorkload() noexcept(false) override;

 protected:
  DataParallelWorkload();
  /// Name, documentation, and the parameters and phases that all strategies share; a plugin adds its own to it.
  static Descriptor descriptor(const char* name, const char* documentation);
  virtual std::unique_ptr<GradientExchange> make_exchange(const Replica& replica) = 0;
  /// By default make_whole_update(): every rank updates all parameters by the replica's rule.
  virtual std::unique_ptr<ParameterUpdate> make_update(const Replica& replica);

 private:
  struct State;
  void make_replica();
  void make_training();
  void declare();

  std::unique_ptr<State> state_;
};

}  // namespace kymo::training

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <kymo/communicator.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"
#include "training/sharded_optimizer.hpp"
#include "transformer/model.hpp"

namespace kymo::training {

struct FsdpOptions {
  bool by_block = false;  ///< gather the weights of a block together; otherwise each weight by itself
  int prefetch = 2;       ///< when a use ends, the gather for the use this many later begins; 0: when it is needed
  bool reshard_after_forward = true;  ///< free the weights after forward and gather them again in backward
  bool reduce_in_fp32 = true;         ///< otherwise gradients are reduced in the type of the weights
};

/// Weights that are gathered together.
struct FsdpUnit {
  FsdpUnit(std::string unit_name, std::vector<at::Tensor> weights, int ranks)
      : name(std::move(unit_name)), layout(std::move(weights), ranks) {}

  std::string name;
  FlatLayout layout;
  bool is_trained() const { return layout.tensors().front().requires_grad(); }
};

/// The units of a model in the order of the forward pass: its weights with two dimensions. Weights of a unit have one
/// type and are either all trained or all frozen.
std::vector<FsdpUnit> fsdp_units(const TrainedModel& model, bool by_block, int ranks);
/// The other trained parameters, which are replicated on every rank, by type.
std::vector<std::vector<at::Tensor>> fsdp_replicated(const TrainedModel& model);
/// The type of the master weights of weights of this type: at least fp32.
at::ScalarType fsdp_master_type(at::ScalarType weight);

/// Fully sharded data parallelism (ZeRO stage 3; Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data
/// Parallel", 2023). Of each weight with two dimensions, a rank holds 1/N of the master, the gradient and the optimizer
/// state, in fp32. A unit is gathered in the type of its weights before it is used, some units ahead, and freed
/// afterwards; its gradients are reduce-scattered as soon as they are complete. Other parameters are replicated, and
/// their gradients are all-reduced after backward.
///
/// The order of all uses of a step, in the forward pass, in recomputations of checkpoints and in the backward pass, is
/// that of the step before; in the first step, the backward pass is expected to use in reverse what the forward pass
/// did.
///
/// A weight stays the same tensor, but has memory only while its unit is gathered. All memory is allocated and freed in
/// the order of the current stream, with which each collective is ordered at its begin and where its result is needed:
/// nothing waits on the host with NCCL. All ranks must compute the same graph.
class Fsdp final : public transformer::WeightUse {
 public:
  /// Takes over the parameters of the replica's model, which must outlive this object, like the communicator.
  Fsdp(const Replica& replica, const FsdpOptions& options);
  Fsdp(const Fsdp&) = delete;
  Fsdp& operator=(const Fsdp&) = delete;
  ~Fsdp() override;

  /// Call before each forward pass.
  void begin_step();
  void begin(const at::Tensor& weight) override;
  void end(const at::Tensor& weight, const at::Tensor& result, bool in_backward) override;
  /// Call after backward: afterwards, all masters have their gradients.
  void finish_step();
  /// Call after the update of the masters: rounds the masters of replicated parameters.
  void publish() const;
  /// Gathers all units until the next step.
  void complete_parameters();

  /// The tensors that the optimizer updates: the trained shards, one 1D tensor for each unit, and the other trained
  /// parameters.
  const std::vector<at::Tensor>& masters() const { return masters_; }
  /// Bytes of all trained parameters, in the type of the weights.
  std::int64_t parameter_bytes() const { return parameter_bytes_; }

 private:
  struct Unit : FsdpUnit {
    explicit Unit(FsdpUnit unit) : FsdpUnit(std::move(unit)) {}
    at::Tensor gathered;  // all shards; has memory only while it is gathered
    at::Tensor master;    // this rank's shard
    std::unique_ptr<comm::Work> gather;
    bool is_gathered = false;
    std::size_t read_weights = 0;       // in the forward use that is open
    bool is_differentiated = false;     // between its use in the backward pass and its gradients
    std::size_t missing_gradients = 0;  // in this step
    std::unique_ptr<GradientHooks> hooks;
  };
  /// A forward pass through a unit, which may be that of a recomputation.
  struct ForwardUse {
    std::size_t unit = 0;
    bool has_backward = false;
    bool is_differentiated = false;  // its backward pass has begun
  };
  struct Reduction {
    std::size_t unit = 0;
    at::Tensor shard;
    std::unique_ptr<comm::Work> work;
  };
  /// Replicated parameters of one type.
  struct Replicated {
    FlatLayout layout;
    std::vector<at::Tensor> masters;
  };

  void add_unit(FsdpUnit unit, const std::unordered_map<const void*, at::Tensor>& masters);
  void add_replicated(std::vector<at::Tensor> parameters, const std::unordered_map<const void*, at::Tensor>& masters);
  at::ScalarType reduce_type(const at::Tensor& weight) const;
  void start_gather(Unit& unit);
  void finish_gather(Unit& unit);
  static void release(Unit& unit);
  void start_gathers(std::size_t end);
  void use(std::size_t unit);
  void end_forward_use();
  bool is_used_soon(std::size_t unit) const;
  void backward_begins(std::size_t forward_use);
  void gradient_is_ready(std::size_t unit);
  void reduce(std::size_t unit);
  void finish_reduction();
  void reduce_replicated();

  Context ctx_;
  TrainedModel& model_;
  comm::Communicator& communicator_;
  FsdpOptions options_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::unordered_map<const void*, std::size_t> unit_of_;  // by weight
  std::vector<Replicated> replicated_;
  std::vector<at::Tensor> masters_;
  std::int64_t parameter_bytes_ = 0;

  std::vector<std::size_t> expected_uses_;  // units in the order of their uses in the previous step
  bool knows_backward_ = false;             // a backward pass has begun, in this step or before
  std::vector<std::size_t> uses_;           // in this step
  std::size_t next_ = 0;                    // first expected use whose gather was not started
  std::vector<ForwardUse> forward_uses_;    // in this step
  std::optional<std::size_t> open_;         // unit whose forward use has not ended
  std::deque<Reduction> reductions_;
};

/// The exchange, and the update of the masters by an optimizer. With `report`, also reports optimizer_state_bytes to
/// the host after the first update.
struct FsdpStrategy {
  std::unique_ptr<GradientExchange> exchange;
  std::unique_ptr<ParameterUpdate> update;
  std::shared_ptr<const Fsdp> fsdp;
};
FsdpStrategy make_fsdp(const Replica& replica, const FsdpOptions& options, const OptimizerFactory& make,
                       bool report = false);

}  // namespace kymo::training

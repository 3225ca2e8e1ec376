// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <kymo/communicator.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "training/data_parallel.hpp"

namespace kymo::training {

/// Assigns each item to a rank: largest first, each to the rank with the smallest load so far; ties go to the lower
/// rank in order. The maximum load is at most 4/3 of the optimum (Graham, "Bounds on multiprocessing timing anomalies",
/// 1969). `load_bytes` has one entry per rank with its existing load, and is updated. Returns the rank of each item.
std::vector<int> balanced_owners(const std::vector<std::int64_t>& size_bytes, std::vector<std::int64_t>& load_bytes);

/// Creates an optimizer for the parameters of one group. Called once per group, and with an empty group for the default
/// settings.
using OptimizerFactory =
    std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<torch::optim::OptimizerParamGroup>)>;

/// Factory for an optimizer type with default settings:
/// optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1)).
template <typename Optimizer, typename Settings>
OptimizerFactory optimizer_factory(Settings settings) {
  return [settings = std::move(settings)](std::vector<torch::optim::OptimizerParamGroup> groups) {
    return std::make_unique<Optimizer>(std::move(groups), settings);
  };
}

/// Returns configured, torch_adamw, momentum, adagrad, rmsprop.
std::vector<std::string> wrapped_names();
extern const char* const kWrappedText;

/// Creates optimizers of the kind `wrapped` with the rule's learning rate; `configured` is the optimizer that the rule
/// names. Throws std::invalid_argument for an unknown name.
OptimizerFactory wrapped_factory(const std::string& wrapped, const UpdateRule& rule);

/// Creates the optimizer of one group; a FusedAdamW allocates its state immediately. `masters` are the fp32 master
/// weights of its parameters, undefined where one has none (see FusedAdamW::set_master_weights()), or empty. Throws
/// std::invalid_argument if the factory returns none, or another optimizer than FusedAdamW for master weights.
std::unique_ptr<torch::optim::Optimizer> make_optimizer(const OptimizerFactory& make,
                                                        torch::optim::OptimizerParamGroup group,
                                                        const std::vector<at::Tensor>& masters = {});

/// Runs the kernels of a FusedAdamW once (see FusedAdamW::warm_up()); does nothing for other optimizers.
void warm_up(const torch::optim::Optimizer& optimizer);

/// The master weight of each parameter, where it has one.
class MasterWeights {
 public:
  MasterWeights() = default;
  /// Two lists of the same order; `masters` may be empty.
  MasterWeights(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& masters);
  /// The master weights of some parameters, undefined where one has none; empty if none has one.
  std::vector<at::Tensor> of(const std::vector<at::Tensor>& parameters) const;

 private:
  std::unordered_map<const void*, at::Tensor> masters_;
};

/// Throws std::invalid_argument for settings that need all gradients: clipping by their norm.
void check_shardable(const torch::optim::OptimizerOptions& settings);

/// Settings for groups without their own. Throws std::invalid_argument for LBFGS, whose update needs all
/// parameters, and like check_shardable().
std::unique_ptr<torch::optim::OptimizerOptions> default_settings(const OptimizerFactory& make);

/// State tensors of an optimizer: FusedAdamW and LibTorch's SGD, Adam, AdamW, Adagrad and RMSprop. Many are allocated
/// in the first step. Throws std::invalid_argument for other state types.
std::vector<at::Tensor> state_tensors(const torch::optim::Optimizer& optimizer);

/// An optimizer whose work and state are divided among the ranks. Each parameter has one owner. Each rank creates an
/// optimizer of the wrapped kind for its own parameters only, so it holds about 1/N of the state and performs 1/N of
/// the update; then every parameter is broadcast from its owner. All ranks must have equal parameters and gradients,
/// and make the same calls in the same order.
///
/// Any optimizer that updates parameters independently can be wrapped: all of LibTorch's C++ optimizers except LBFGS,
/// and FusedAdamW. To the caller, it behaves like them: param_groups() contains the complete groups, and settings
/// changed there (such as a learning rate schedule) apply from the next step on. A parameter that appears twice in a
/// group (tied weights) is updated once.
class ShardedOptimizer : public torch::optim::Optimizer {
 public:
  struct Options {
    /// Moves the parameters that a rank owns in a group into one buffer, so that one broadcast without copies is
    /// sufficient. The parameters stay the same tensors, but their addresses change once. If false, they stay in place,
    /// with one broadcast per parameter.
    bool flat = true;
    /// Number of pieces of about equal size, at least 1: while one is broadcast, the next is updated.
    int pieces = 1;
  };

  /// `masters` are the fp32 master weights of the parameters for FusedAdamW, or empty; a rank holds those of its own
  /// parameters. Throws std::invalid_argument for LBFGS, for a parameter that is in two groups, for one that is not
  /// dense, for fewer than one piece, and like make_optimizer(). The communicator must outlive the optimizer.
  ShardedOptimizer(std::vector<at::Tensor> parameters, OptimizerFactory make, comm::Communicator& communicator,
                   Options options, const std::vector<at::Tensor>& masters = {});

  /// Adds a group at any time; without settings it uses the defaults. Owners of earlier groups do not change, and the
  /// new parameters are assigned to the ranks with the smallest load. Throws like the constructor, without changing
  /// anything.
  void add_param_group(const torch::optim::OptimizerParamGroup& group);

  /// Updates and starts to broadcast one piece after another, then waits for all. `closure`, if given, runs first with
  /// gradients enabled, and its loss is returned.
  at::Tensor step(LossClosure closure = nullptr) override;

  /// The parts of a step, for callers that measure them. Pieces are numbered from 0.
  int pieces() const { return options_.pieces; }
  /// Updates the parameters of a piece that this rank owns. Does not communicate.
  void update(int piece);
  /// Starts to broadcast the parameters of a piece from their owners, ordered after the current stream.
  void begin_broadcast(int piece);
  /// Waits for the started broadcasts. With NCCL, only the current stream waits.
  void finish_broadcast();
  /// Runs the kernels and broadcasts of a step without changing parameters or state.
  void warm_up();

  /// This rank's parameters, in group order.
  std::vector<at::Tensor> owned_parameters() const;
  /// Current state tensors of this rank's parameters. Many optimizers allocate them in the first step.
  std::vector<at::Tensor> state_tensors() const;
  /// Buffers that contain the parameters; empty if they stay in place.
  std::vector<at::Tensor> parameter_buffers() const;

 private:
  struct Message {
    at::Tensor values;  // contiguous
    int owner = 0;
    bool buffer = false;
  };
  struct Piece {
    std::vector<at::Tensor> owned;
    std::vector<Message> messages;
  };
  /// State of one group.
  struct Shard {
    std::unique_ptr<torch::optim::Optimizer> optimizer;  // for this rank's parameters; null if there are none
    std::vector<Piece> pieces;
  };

  void check_new(const std::vector<at::Tensor>& parameters) const;
  void register_groups();
  Shard make_shard(const torch::optim::OptimizerParamGroup& group);
  std::vector<Piece> make_pieces(const std::vector<at::Tensor>& parameters, const std::vector<int>& owners) const;
  std::vector<Message> make_messages(const std::vector<at::Tensor>& parameters, const std::vector<int>& owners) const;

  OptimizerFactory make_;
  comm::Communicator& communicator_;
  Options options_;
  std::vector<Shard> shards_;  // per group
  std::vector<std::int64_t> load_bytes_;
  std::unordered_set<const void*> known_;  // parameters
  MasterWeights masters_;                  // during construction
  std::vector<std::unique_ptr<comm::Work>> pending_;
};

}  // namespace kymo::training

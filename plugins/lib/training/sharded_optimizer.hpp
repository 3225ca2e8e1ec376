// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <kymo/communicator.hpp>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kymo::training {

/// Gives each item to a rank: the largest first, each to the rank that has the least so far, equal ones in order and to
/// the lower rank. The fullest rank has at most 4/3 of what the best division would give it (Graham, "Bounds on
/// multiprocessing timing anomalies", 1969). `load_bytes` has one entry a rank, what it owns already, and is brought up
/// to date. Returns the rank of each item.
std::vector<int> balanced_owners(const std::vector<std::int64_t>& size_bytes, std::vector<std::int64_t>& load_bytes);

/// Makes an optimizer for parameters of one group: called once for each group, and with an empty one for the default
/// settings.
using OptimizerFactory =
    std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<torch::optim::OptimizerParamGroup>)>;

/// The factory of an optimizer type by its default settings:
/// optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1)).
template <typename Optimizer, typename Settings>
OptimizerFactory optimizer_factory(Settings settings) {
  return [settings = std::move(settings)](std::vector<torch::optim::OptimizerParamGroup> groups) {
    return std::make_unique<Optimizer>(std::move(groups), settings);
  };
}

/// The optimizer of one group; a FusedAdamW has its state at once. Throws std::invalid_argument if the factory makes
/// none.
std::unique_ptr<torch::optim::Optimizer> make_optimizer(const OptimizerFactory& make,
                                                        torch::optim::OptimizerParamGroup group);

/// The settings of a group without its own. Throws std::invalid_argument for LBFGS, whose update needs all parameters
/// together.
std::unique_ptr<torch::optim::OptimizerOptions> default_settings(const OptimizerFactory& make);

/// An optimizer whose work and state are divided over the ranks. Each parameter has one owner; a rank makes an
/// optimizer of the wrapped kind for its own parameters alone, so it holds about 1/N of the state and does 1/N of the
/// update; then every parameter is broadcast from its owner. All ranks must have equal parameters and gradients, and
/// make the same calls in the same order.
///
/// Any optimizer that treats parameters one by one can be wrapped: all of LibTorch's front end but LBFGS, and
/// FusedAdamW. To the code around, it is an optimizer like theirs: param_groups() are the whole groups, and settings
/// changed there (a schedule of learning rates) hold from the next step on. A parameter that comes twice in a group
/// (tied weights) is updated once. The state is on the owners: save that of each rank through owned_optimizer(); save()
/// and load() of the whole refuse.
class ShardedOptimizer : public torch::optim::Optimizer {
 public:
  struct Options {
    /// The parameters that a rank owns in a group move into one buffer, so that one broadcast each without copies does.
    /// The parameters stay the same tensors, but the addresses of their values change once. False leaves them in place,
    /// with one broadcast a parameter.
    bool flat = true;
    /// The update goes in pieces of about equal size, at least 1: while one is broadcast the next is updated.
    int pieces = 1;
  };

  /// Throws std::invalid_argument for LBFGS, for a parameter that is in two groups, for one that is not dense, and for
  /// less than one piece. The communicator must outlive the optimizer.
  ShardedOptimizer(const std::vector<torch::optim::OptimizerParamGroup>& groups, OptimizerFactory make,
                   comm::Communicator& communicator, Options options);
  ShardedOptimizer(std::vector<at::Tensor> parameters, OptimizerFactory make, comm::Communicator& communicator,
                   Options options);

  /// Adds a group, at any time; one without settings takes the defaults. Owners of earlier groups stay, and the new
  /// parameters go to the ranks that own least. Throws as the constructor does and then changes nothing.
  void add_param_group(const torch::optim::OptimizerParamGroup& group);

  /// Updates and begins to share one piece after the other, then finishes. `closure`, if given, is run first with
  /// gradients enabled and its loss returned.
  at::Tensor step(LossClosure closure = nullptr) override;

  /// The parts of a step, for code that measures them. Pieces count from 0.
  int pieces() const { return options_.pieces; }
  /// Updates the parameters of a piece that this rank owns. Sends nothing.
  void update(int piece);
  /// Begins to broadcast the parameters of a piece from their owners, once what the current stream holds is done.
  void begin_share(int piece);
  /// Waits for what began to be shared. With NCCL only queued: the current stream waits for it.
  void finish_share();

  /// The rank that updates a parameter. Throws std::invalid_argument for one that is in no group.
  int owner_of(const at::Tensor& parameter) const;
  /// This rank's own, in the order of the groups.
  std::vector<at::Tensor> owned_parameters() const;
  /// The wrapped optimizer of this rank's share of a group; nullptr where it owns nothing of it.
  torch::optim::Optimizer* owned_optimizer(std::size_t group) const { return shards_.at(group).optimizer.get(); }
  /// What the state of this rank's own parameters is held in, so far: many optimizers make it in the first step.
  std::vector<at::Tensor> state_tensors() const;
  /// The buffers that hold the parameters; none if they stay in place.
  std::vector<at::Tensor> parameter_buffers() const;

  [[noreturn]] void save(torch::serialize::OutputArchive& archive) const override;
  [[noreturn]] void load(torch::serialize::InputArchive& archive) override;

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
  /// One group's.
  struct Shard {
    std::unique_ptr<torch::optim::Optimizer> optimizer;  // of what this rank owns; none if nothing
    std::vector<Piece> pieces;
  };

  void check_new(const std::vector<at::Tensor>& parameters) const;
  void adopt_groups();
  Shard make_shard(const torch::optim::OptimizerParamGroup& group);
  std::vector<Piece> make_pieces(const std::vector<at::Tensor>& parameters, const std::vector<int>& owners) const;
  std::vector<Message> make_messages(const std::vector<at::Tensor>& parameters, const std::vector<int>& owners) const;

  OptimizerFactory make_;
  comm::Communicator& communicator_;
  Options options_;
  std::vector<Shard> shards_;  // by group
  std::vector<std::int64_t> load_bytes_;
  std::unordered_map<const void*, int> owners_;  // by tensor
  std::vector<std::unique_ptr<comm::Work>> under_way_;
};

}  // namespace kymo::training

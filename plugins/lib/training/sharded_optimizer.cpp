// SPDX-License-Identifier: Apache-2.0
#include "training/sharded_optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "training/flat_layout.hpp"
#include "training/fused_adamw.hpp"

namespace kymo::training {
namespace {

using torch::optim::OptimizerParamGroup;

/// Restricts an optimizer to these parameters until the end of the scope. An optimizer that updates parameters
/// independently gives the same results as for all of them.
class ParameterSubset {
 public:
  ParameterSubset(OptimizerParamGroup& group, const std::vector<at::Tensor>& to) : group_(group), all_(group.params()) {
    group_.params() = to;
  }
  ParameterSubset(const ParameterSubset&) = delete;
  ParameterSubset& operator=(const ParameterSubset&) = delete;
  ~ParameterSubset() { group_.params() = std::move(all_); }

 private:
  OptimizerParamGroup& group_;
  std::vector<at::Tensor> all_;
};

/// The piece of each tensor, such that the tensors of each owner are divided, in order, into pieces of about equal
/// bytes.
std::vector<std::size_t> piece_of_each(const std::vector<at::Tensor>& tensors, const std::vector<int>& owners,
                                       int ranks, int pieces) {
  std::vector<double> total_bytes(static_cast<std::size_t>(ranks)), before_bytes(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    total_bytes[static_cast<std::size_t>(owners[i])] += static_cast<double>(tensors[i].nbytes());
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto owner = static_cast<std::size_t>(owners[i]);
    const auto size_bytes = static_cast<double>(tensors[i].nbytes());
    const double middle = total_bytes[owner] > 0 ? (before_bytes[owner] + size_bytes / 2) / total_bytes[owner] : 0;
    result.push_back(std::min(static_cast<std::size_t>(middle * pieces), static_cast<std::size_t>(pieces) - 1));
    before_bytes[owner] += size_bytes;
  }
  return result;
}

OptimizerParamGroup without_repeats(const OptimizerParamGroup& group) {
  OptimizerParamGroup once(unique_tensors(group.params()));
  if (group.has_options()) once.set_options(group.options().clone());
  return once;
}

std::vector<at::Tensor> tensors_of(const torch::optim::OptimizerParamState& state) {
  if (const auto* fused = dynamic_cast<const AdamWState*>(&state))
    return {fused->mean, fused->square_mean, fused->step, fused->master_weight};
  if (const auto* sgd = dynamic_cast<const torch::optim::SGDParamState*>(&state)) return {sgd->momentum_buffer()};
  if (const auto* adam = dynamic_cast<const torch::optim::AdamParamState*>(&state))
    return {adam->exp_avg(), adam->exp_avg_sq(), adam->max_exp_avg_sq()};
  if (const auto* adamw = dynamic_cast<const torch::optim::AdamWParamState*>(&state))
    return {adamw->exp_avg(), adamw->exp_avg_sq(), adamw->max_exp_avg_sq()};
  if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradParamState*>(&state)) return {adagrad->sum()};
  if (const auto* rmsprop = dynamic_cast<const torch::optim::RMSpropParamState*>(&state))
    return {rmsprop->square_avg(), rmsprop->momentum_buffer(), rmsprop->grad_avg()};
  throw std::invalid_argument(
      "cannot find the state of this optimizer; supported are FusedAdamW, SGD, Adam, AdamW, Adagrad and RMSprop");
}

}  // namespace

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const OptimizerFactory& make, OptimizerParamGroup group,
                                                        const std::vector<at::Tensor>& masters) {
  std::vector<OptimizerParamGroup> groups;
  groups.push_back(std::move(group));
  std::unique_ptr<torch::optim::Optimizer> optimizer = make ? make(std::move(groups)) : nullptr;
  if (!optimizer) throw std::invalid_argument("the factory of a sharded optimizer returned no optimizer");
  auto* fused = dynamic_cast<FusedAdamW*>(optimizer.get());
  if (!masters.empty()) {
    if (!fused) throw std::invalid_argument("this optimizer does not use master weights; use FusedAdamW");
    fused->set_master_weights(masters);
  }
  if (fused) fused->make_state();
  return optimizer;
}

void warm_up(const torch::optim::Optimizer& optimizer) {
  if (const auto* fused = dynamic_cast<const FusedAdamW*>(&optimizer)) fused->warm_up();
}

MasterWeights::MasterWeights(const std::vector<at::Tensor>& parameters, const std::vector<at::Tensor>& masters) {
  if (!masters.empty() && masters.size() != parameters.size())
    throw std::invalid_argument("there are " + std::to_string(masters.size()) + " master weights for " +
                                std::to_string(parameters.size()) +
                                " parameters; pass one for each, undefined where a parameter has none");
  for (std::size_t i = 0; i < masters.size(); ++i)
    if (masters[i].defined()) masters_.emplace(parameters[i].unsafeGetTensorImpl(), masters[i]);
}

std::vector<at::Tensor> MasterWeights::of(const std::vector<at::Tensor>& parameters) const {
  std::vector<at::Tensor> found;
  bool has_one = false;
  for (const at::Tensor& parameter : parameters) {
    const auto master = masters_.find(parameter.unsafeGetTensorImpl());
    found.push_back(master == masters_.end() ? at::Tensor() : master->second);
    has_one = has_one || found.back().defined();
  }
  return has_one ? found : std::vector<at::Tensor>{};
}

void check_shardable(const torch::optim::OptimizerOptions& settings) {
  const auto* adamw = dynamic_cast<const AdamWSetting*>(&settings);
  if (adamw && adamw->max_norm > 0)
    throw std::invalid_argument(
        "clipping by the norm of all gradients cannot be sharded: each rank knows the gradients of its own parameters "
        "only; set AdamWSetting::max_norm to 0 and clip the gradients before the update");
}

std::unique_ptr<torch::optim::OptimizerOptions> default_settings(const OptimizerFactory& make) {
  const auto empty = make_optimizer(make, OptimizerParamGroup(std::vector<at::Tensor>{}));
  if (dynamic_cast<const torch::optim::LBFGS*>(empty.get()))
    throw std::invalid_argument(
        "LBFGS cannot be sharded: each update needs all parameters; use an optimizer that updates parameters "
        "independently");
  check_shardable(empty->defaults());
  return empty->defaults().clone();
}

std::vector<at::Tensor> state_tensors(const torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& entry : optimizer.state())
    if (entry.second)
      for (const at::Tensor& tensor : tensors_of(*entry.second))
        if (tensor.defined()) all.push_back(tensor);
  return all;
}

std::vector<int> balanced_owners(const std::vector<std::int64_t>& size_bytes, std::vector<std::int64_t>& load_bytes) {
  if (load_bytes.empty()) throw std::invalid_argument("the number of ranks must be at least 1");
  std::vector<std::size_t> order(size_bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t item) { return size_bytes[item]; });
  std::vector<int> owners(size_bytes.size());
  for (const std::size_t item : order) {
    const auto least = std::ranges::min_element(load_bytes);
    owners[item] = static_cast<int>(least - load_bytes.begin());
    *least += size_bytes[item];
  }
  return owners;
}

ShardedOptimizer::ShardedOptimizer(std::vector<at::Tensor> parameters, OptimizerFactory make,
                                   comm::Communicator& communicator, Options options,
                                   const std::vector<at::Tensor>& masters)
    : Optimizer(std::vector<OptimizerParamGroup>{}, default_settings(make)),
      make_(std::move(make)),
      communicator_(communicator),
      options_(options),
      load_bytes_(static_cast<std::size_t>(communicator.size())),
      masters_(parameters, masters) {
  if (options_.pieces < 1) throw std::invalid_argument("the number of pieces must be at least 1");
  add_param_group(OptimizerParamGroup(std::move(parameters)));
  masters_ = {};  // drops the master weights of other ranks
}

void ShardedOptimizer::add_param_group(const OptimizerParamGroup& group) {
  register_groups();
  if (group.has_options()) check_shardable(group.options());
  OptimizerParamGroup once = without_repeats(group);
  check_new(once.params());
  Optimizer::add_param_group(once);
  register_groups();
}

void ShardedOptimizer::check_new(const std::vector<at::Tensor>& parameters) const {
  for (const at::Tensor& parameter : parameters) {
    if (known_.count(parameter.unsafeGetTensorImpl()))
      throw std::invalid_argument("a parameter appears in two groups; it must be in one");
    if (!parameter.is_leaf()) throw std::invalid_argument("a parameter is not a leaf tensor; pass the leaf tensor");
    as_1d(parameter);  // throws unless it can be sent without a copy
  }
}

/// Includes groups that were added through a pointer to the base class, whose add_param_group() is not virtual.
void ShardedOptimizer::register_groups() {
  while (shards_.size() < param_groups_.size()) {
    OptimizerParamGroup& group = param_groups_[shards_.size()];
    group.params() = unique_tensors(group.params());
    check_new(group.params());
    shards_.push_back(make_shard(group));
  }
}

ShardedOptimizer::Shard ShardedOptimizer::make_shard(const OptimizerParamGroup& group) {
  std::vector<std::int64_t> sizes;
  // The state of AdamW is twice the size of a parameter and its master weight.
  for (const at::Tensor& parameter : group.params())
    sizes.push_back(bytes_of({parameter}) + bytes_of(masters_.of({parameter})));
  const std::vector<int> owners = balanced_owners(sizes, load_bytes_);
  Shard shard;
  std::vector<at::Tensor> owned;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    known_.insert(group.params()[i].unsafeGetTensorImpl());
    if (owners[i] == communicator_.rank()) owned.push_back(group.params()[i]);
  }
  shard.pieces = make_pieces(group.params(), owners);
  if (!owned.empty()) {
    const std::vector<at::Tensor> masters = masters_.of(owned);
    shard.optimizer = make_optimizer(make_, OptimizerParamGroup(std::move(owned), group.options().clone()), masters);
  }
  return shard;
}

std::vector<ShardedOptimizer::Piece> ShardedOptimizer::make_pieces(const std::vector<at::Tensor>& parameters,
                                                                   const std::vector<int>& owners) const {
  const std::vector<std::size_t> piece_indices =
      piece_of_each(parameters, owners, communicator_.size(), options_.pieces);
  std::vector<Piece> pieces(static_cast<std::size_t>(options_.pieces));
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    std::vector<at::Tensor> in_piece;
    std::vector<int> in_piece_owners;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (piece_indices[i] != piece) continue;
      in_piece.push_back(parameters[i]);
      in_piece_owners.push_back(owners[i]);
      if (owners[i] == communicator_.rank()) pieces[piece].owned.push_back(parameters[i]);
    }
    pieces[piece].messages = make_messages(in_piece, in_piece_owners);
  }
  return pieces;
}

std::vector<ShardedOptimizer::Message> ShardedOptimizer::make_messages(const std::vector<at::Tensor>& parameters,
                                                                       const std::vector<int>& owners) const {
  std::vector<Message> messages;
  if (!options_.flat || communicator_.size() == 1) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].numel() > 0) messages.push_back({as_1d(parameters[i]), owners[i], false});
    return messages;
  }
  std::map<std::pair<int, at::ScalarType>, std::vector<at::Tensor>> by_owner;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].numel() > 0) by_owner[{owners[i], parameters[i].scalar_type()}].push_back(parameters[i]);
  for (const auto& [key, tensors] : by_owner) {
    const FlatLayout layout(tensors);
    messages.push_back({layout.make_buffer(), key.first, true});
    layout.move_into(messages.back().values);
  }
  return messages;
}

at::Tensor ShardedOptimizer::step(LossClosure closure) {
  at::Tensor loss;
  if (closure) {
    const c10::AutoGradMode with_gradients(true);
    loss = closure();
  }
  for (int piece = 0; piece < options_.pieces; ++piece) {
    update(piece);
    begin_broadcast(piece);
  }
  finish_broadcast();
  return loss;
}

void ShardedOptimizer::update(int piece) {
  register_groups();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const std::vector<at::Tensor>& owned = shards_[i].pieces.at(static_cast<std::size_t>(piece)).owned;
    if (owned.empty()) continue;
    OptimizerParamGroup& group = shards_[i].optimizer->param_groups().front();
    group.set_options(param_groups_[i].options().clone());
    const ParameterSubset subset(group, owned);
    shards_[i].optimizer->step();
  }
}

void ShardedOptimizer::begin_broadcast(int piece) {
  if (communicator_.size() == 1) return;
  const c10::NoGradGuard no_gradients;
  const comm::Communicator::Group group(communicator_);
  for (const Shard& shard : shards_)
    for (const Message& message : shard.pieces.at(static_cast<std::size_t>(piece)).messages)
      pending_.push_back(communicator_.broadcast(message.values, message.owner));
}

void ShardedOptimizer::finish_broadcast() {
  const auto sent = std::exchange(pending_, {});
  for (const auto& work : sent) work->wait();
}

void ShardedOptimizer::warm_up() {
  for (const Shard& shard : shards_)
    if (shard.optimizer) training::warm_up(*shard.optimizer);
  for (int piece = 0; piece < options_.pieces; ++piece) begin_broadcast(piece);
  finish_broadcast();
}

std::vector<at::Tensor> ShardedOptimizer::owned_parameters() const {
  std::vector<at::Tensor> all;
  for (const Shard& shard : shards_)
    for (const Piece& piece : shard.pieces) all.insert(all.end(), piece.owned.begin(), piece.owned.end());
  return all;
}

std::vector<at::Tensor> ShardedOptimizer::state_tensors() const {
  std::vector<at::Tensor> all;
  for (const Shard& shard : shards_) {
    if (!shard.optimizer) continue;
    const std::vector<at::Tensor> more = training::state_tensors(*shard.optimizer);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<at::Tensor> ShardedOptimizer::parameter_buffers() const {
  std::vector<at::Tensor> all;
  for (const Shard& shard : shards_)
    for (const Piece& piece : shard.pieces)
      for (const Message& message : piece.messages)
        if (message.buffer) all.push_back(message.values);
  return all;
}

}  // namespace kymo::training

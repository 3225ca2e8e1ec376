// SPDX-License-Identifier: Apache-2.0
#include "training/fsdp.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StorageImpl.h>

#include <algorithm>
#include <kymo/torch.hpp>
#include <stdexcept>
#include <utility>

#include "training/trained_model.hpp"

namespace kymo::training {
namespace {

/// Reductions in flight, each of which holds the gradients of a unit.
constexpr std::size_t kReductions = 2;

using MasterOf = std::unordered_map<const void*, at::Tensor>;

/// Allocates the memory of a tensor and of its views, which keep sharing its storage.
void allocate_memory(const at::Tensor& tensor) {
  c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
  const std::size_t bytes = tensor.nbytes();
  storage->set_data_ptr_noswap(storage->allocator()->allocate(bytes));
  storage->set_nbytes(bytes);
}

void free_memory(const at::Tensor& tensor) {
  c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::DataPtr(nullptr, storage->device()));
  storage->set_nbytes(0);
}

at::Tensor initial_master(const at::Tensor& weight, const MasterOf& masters) {
  const auto found = masters.find(weight.unsafeGetTensorImpl());
  const at::Tensor& exact = found == masters.end() ? weight : found->second;
  return exact.detach().to(fsdp_master_type(weight.scalar_type()));
}

MasterOf masters_of(const Replica& replica) {
  MasterOf masters;
  for (std::size_t i = 0; i < replica.master_weights.size(); ++i)
    if (replica.master_weights[i].defined())
      masters.emplace(replica.parameters[i].unsafeGetTensorImpl(), replica.master_weights[i]);
  return masters;
}

class FsdpExchange final : public GradientExchange {
 public:
  explicit FsdpExchange(std::shared_ptr<Fsdp> fsdp) : fsdp_(std::move(fsdp)) {}
  void begin_step() override { fsdp_->begin_step(); }
  void finish_step() override { fsdp_->finish_step(); }
  void complete_parameters() override { fsdp_->complete_parameters(); }

 private:
  std::shared_ptr<Fsdp> fsdp_;
};

class FsdpUpdate final : public ParameterUpdate {
 public:
  FsdpUpdate(const Replica& replica, std::shared_ptr<Fsdp> fsdp, const OptimizerFactory& make, bool report)
      : ctx_(replica.ctx),
        fsdp_(std::move(fsdp)),
        optimizer_(make_optimizer(make, torch::optim::OptimizerParamGroup(fsdp_->masters()))),
        report_(report) {
    for (const at::Tensor& tensor : state_tensors(*optimizer_)) libtorch::tag(ctx_, tensor, Block::OptimizerState);
  }
  void step() override {
    optimizer_->step();
    fsdp_->publish();
    if (!std::exchange(report_, false)) return;
    ctx_.metric("optimizer_state_bytes", static_cast<double>(bytes_of(state_tensors(*optimizer_))), "B");
  }
  void warm_up() override {
    training::warm_up(*optimizer_);
    fsdp_->publish();
  }

 private:
  Context ctx_;
  std::shared_ptr<Fsdp> fsdp_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  bool report_;
};

}  // namespace

at::ScalarType fsdp_master_type(at::ScalarType weight) { return weight == at::kDouble ? at::kDouble : at::kFloat; }

std::vector<FsdpUnit> fsdp_units(const TrainedModel& model, bool by_block, int ranks) {
  const std::vector<at::Tensor> parameters = model.parameters();
  const std::vector<std::string> names = model.parameter_names();
  struct Group {
    std::string name;
    std::vector<at::Tensor> weights;
  };
  std::vector<Group> groups;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& weight = parameters[i];
    if (weight.dim() < 2) continue;
    const std::string name = by_block ? names[i].substr(0, names[i].find('/')) : names[i];
    const at::Tensor* const last = groups.empty() ? nullptr : &groups.back().weights.back();
    const bool joins = last && groups.back().name == name && last->scalar_type() == weight.scalar_type() &&
                       last->requires_grad() == weight.requires_grad();
    if (!joins) groups.push_back({name, {}});
    groups.back().weights.push_back(weight);
  }
  std::vector<FsdpUnit> units;
  for (Group& group : groups) units.emplace_back(std::move(group.name), std::move(group.weights), ranks);
  return units;
}

std::vector<std::vector<at::Tensor>> fsdp_replicated(const TrainedModel& model) {
  std::vector<at::Tensor> replicated;
  for (const at::Tensor& parameter : model.trained())
    if (parameter.dim() < 2) replicated.push_back(parameter);
  return split_by_type(replicated);
}

Fsdp::Fsdp(const Replica& replica, const FsdpOptions& options)
    : ctx_(replica.ctx), model_(*replica.model), communicator_(*replica.communicator), options_(options) {
  const c10::NoGradGuard no_gradients;
  const MasterOf masters = masters_of(replica);
  for (FsdpUnit& unit : fsdp_units(model_, options.by_block, communicator_.size())) add_unit(std::move(unit), masters);
  for (std::vector<at::Tensor>& same_type : fsdp_replicated(model_)) add_replicated(std::move(same_type), masters);
  for (const at::Tensor& parameter : model_.trained())
    parameter_bytes_ += static_cast<std::int64_t>(parameter.nbytes());
  model_.watch(this);
}

Fsdp::~Fsdp() { model_.watch(nullptr); }

void Fsdp::add_unit(FsdpUnit description, const MasterOf& masters) {
  const std::size_t index = units_.size();
  Unit& unit = *units_.emplace_back(std::make_unique<Unit>(std::move(description)));
  const std::vector<at::Tensor>& weights = unit.layout.tensors();
  unit.gathered = unit.layout.make_buffer();
  const at::Tensor exact = unit.gathered.to(fsdp_master_type(unit.gathered.scalar_type()), false, /*copy=*/true);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    unit_of_.emplace(weights[i].unsafeGetTensorImpl(), index);
    unit.layout.view(exact, i).copy_(initial_master(weights[i], masters));
  }
  unit.master = unit.layout.shard(exact, communicator_.rank()).clone();
  libtorch::tag(ctx_, unit.master, Block::Parameter);
  unit.layout.move_into(unit.gathered);
  free_memory(unit.gathered);
  expected_uses_.push_back(index);
  if (!unit.is_trained()) return;
  masters_.push_back(unit.master);
  unit.hooks = std::make_unique<GradientHooks>(weights, [this, index](std::size_t) { gradient_is_ready(index); });
}

void Fsdp::add_replicated(std::vector<at::Tensor> parameters, const MasterOf& masters) {
  Replicated& replicated = replicated_.emplace_back(Replicated{FlatLayout(std::move(parameters)), {}});
  for (const at::Tensor& parameter : replicated.layout.tensors()) {
    replicated.masters.push_back(
        initial_master(parameter, masters));  // shares memory if the parameter has the type of masters
    libtorch::tag(ctx_, replicated.masters.back(), Block::Parameter);
    masters_.push_back(replicated.masters.back());
  }
}

at::ScalarType Fsdp::reduce_type(const at::Tensor& weight) const {
  return options_.reduce_in_fp32 ? fsdp_master_type(weight.scalar_type()) : weight.scalar_type();
}

void Fsdp::begin_step() {
  if (!uses_.empty()) expected_uses_ = std::exchange(uses_, {});
  next_ = 0;
  forward_uses_.clear();
  open_.reset();
  for (const auto& unit : units_) {
    if (unit->is_gathered) release(*unit);
    unit->is_differentiated = false;
    unit->missing_gradients = unit->layout.tensors().size();
  }
  drop_gradients(masters_);
  drop_gradients(model_.trained());
}

/// Starts the gather of a unit unless it has been gathered or is in flight.
void Fsdp::start_gather(Unit& unit) {
  if (unit.is_gathered || unit.gather) return;
  const c10::NoGradGuard no_gradients;
  allocate_memory(unit.gathered);
  libtorch::tag(ctx_, unit.gathered, Block::Communication);
  const at::Tensor part = unit.master.to(unit.gathered.scalar_type());
  if (!part.is_same(unit.master)) libtorch::tag(ctx_, part, Block::Communication);
  unit.gather = communicator_.all_gather(unit.gathered, part);
}

void Fsdp::finish_gather(Unit& unit) {
  start_gather(unit);
  if (unit.is_gathered) return;
  unit.gather->needed(unit.name.c_str());
  unit.gather->wait();
  unit.gather.reset();
  unit.is_gathered = true;
}

void Fsdp::release(Unit& unit) {
  free_memory(unit.gathered);
  unit.is_gathered = false;
}

/// Starts the gathers for the expected uses before `end`.
void Fsdp::start_gathers(std::size_t end) {
  for (; next_ < std::min(end, expected_uses_.size()); ++next_) start_gather(*units_[expected_uses_[next_]]);
}

/// Gathers a unit for its next use.
void Fsdp::use(std::size_t unit) {
  uses_.push_back(unit);
  start_gathers(uses_.size() - 1 + static_cast<std::size_t>(std::max(1, options_.prefetch)));
  finish_gather(*units_[unit]);
}

/// Whether a unit is expected to be used again before a gather that starts now would be needed.
bool Fsdp::is_used_soon(std::size_t unit) const {
  const std::size_t end = uses_.size() + static_cast<std::size_t>(std::max(1, options_.prefetch));
  for (std::size_t i = uses_.size(); i < std::min(end, expected_uses_.size()); ++i)
    if (expected_uses_[i] == unit) return true;
  return false;
}

void Fsdp::begin(const at::Tensor& weight) {
  const auto found = unit_of_.find(weight.unsafeGetTensorImpl());
  if (found == unit_of_.end() || open_ == found->second) return;
  end_forward_use();
  Unit& unit = *units_[found->second];
  if (unit.is_differentiated) return;  // a part is computed again within the backward pass of its unit
  open_ = found->second;
  unit.read_weights = 0;
  forward_uses_.push_back({found->second});
  use(found->second);
}

void Fsdp::end(const at::Tensor& weight, const at::Tensor& result, bool in_backward) {
  if (!open_ || !unit_of_.contains(weight.unsafeGetTensorImpl())) return;
  if (in_backward && result.requires_grad()) {
    const std::size_t forward_use = forward_uses_.size() - 1;
    forward_uses_.back().has_backward = true;
    result.register_hook([this, forward_use](const at::Tensor&) { backward_begins(forward_use); });
  }
  Unit& unit = *units_[*open_];
  if (++unit.read_weights == unit.layout.tensors().size()) end_forward_use();
}

void Fsdp::end_forward_use() {
  if (!open_) return;
  const std::size_t unit = *open_;
  open_.reset();
  if (!knows_backward_ && forward_uses_.back().has_backward)
    expected_uses_.insert(expected_uses_.begin() + static_cast<std::ptrdiff_t>(units_.size()), unit);
  if (options_.reshard_after_forward && !is_used_soon(unit)) release(*units_[unit]);
  start_gathers(uses_.size() + static_cast<std::size_t>(options_.prefetch));
}

void Fsdp::backward_begins(std::size_t forward_use) {
  knows_backward_ = true;
  end_forward_use();
  ForwardUse& forward = forward_uses_[forward_use];
  Unit& unit = *units_[forward.unit];
  if (std::exchange(forward.is_differentiated, true)) {
    finish_gather(unit);  // a frozen one may have been released
    return;
  }
  use(forward.unit);
  unit.is_differentiated = unit.is_trained();
  for (const auto& other : units_)  // the use of a frozen unit is not ended by a gradient
    if (other.get() != &unit && other->is_gathered && !other->is_trained() && options_.reshard_after_forward)
      release(*other);
}

void Fsdp::gradient_is_ready(std::size_t index) {
  Unit& unit = *units_[index];
  if (--unit.missing_gradients > 0) return;
  unit.is_differentiated = false;
  if (unit.is_gathered) release(unit);
  start_gathers(uses_.size() + static_cast<std::size_t>(options_.prefetch));
  reduce(index);
}

void Fsdp::reduce(std::size_t index) {
  const c10::NoGradGuard no_gradients;
  Unit& unit = *units_[index];
  unit.missing_gradients = 0;
  const std::vector<at::Tensor>& weights = unit.layout.tensors();
  const auto options = weights.front().options().requires_grad(false).dtype(reduce_type(weights.front()));
  const at::Tensor gradients = at::zeros({unit.layout.numel()}, options);
  libtorch::tag(ctx_, gradients, Block::Communication);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    at::Tensor& gradient = weights[i].mutable_grad();
    if (!gradient.defined()) continue;  // the loss does not depend on it
    libtorch::tag(ctx_, gradient, Block::Communication);
    unit.layout.view(gradients, i).copy_(gradient);
    gradient.reset();
  }
  if (reductions_.size() >= kReductions) finish_reduction();
  const at::Tensor shard = at::empty({unit.master.numel()}, options);
  libtorch::tag(ctx_, shard, Block::Gradient);
  reductions_.push_back({index, shard, communicator_.reduce_scatter(shard, gradients, comm::Reduction::kAverage)});
}

void Fsdp::finish_reduction() {
  const Reduction ended = std::move(reductions_.front());
  reductions_.pop_front();
  ended.work->wait();
  at::Tensor& gradient = units_[ended.unit]->master.mutable_grad();
  gradient = ended.shard.to(units_[ended.unit]->master.scalar_type());
  libtorch::tag(ctx_, gradient, Block::Gradient);
}

void Fsdp::reduce_replicated() {
  const c10::NoGradGuard no_gradients;
  for (const auto& [layout, masters] : replicated_) {
    const std::vector<at::Tensor>& parameters = layout.tensors();
    const auto options = parameters.front().options().requires_grad(false).dtype(reduce_type(parameters.front()));
    const at::Tensor gradients = at::zeros({layout.numel()}, options);
    libtorch::tag(ctx_, gradients, Block::Gradient);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].grad().defined()) layout.view(gradients, i).copy_(parameters[i].grad());
      parameters[i].mutable_grad().reset();
    }
    communicator_.all_reduce(gradients, comm::Reduction::kAverage)->wait();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      masters[i].mutable_grad() = layout.view(gradients, i).to(masters[i].scalar_type());
  }
}

void Fsdp::finish_step() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Unit& unit = *units_[i];
    if (unit.is_trained() && unit.missing_gradients > 0) reduce(i);
    if (unit.gather) finish_gather(unit);  // of a unit that was not used
    if (unit.is_gathered) release(unit);
  }
  reduce_replicated();
  while (!reductions_.empty()) finish_reduction();
}

void Fsdp::publish() const {
  const c10::NoGradGuard no_gradients;
  for (const auto& [layout, masters] : replicated_)
    for (std::size_t i = 0; i < masters.size(); ++i)
      if (const at::Tensor& parameter = layout.tensors()[i]; parameter.const_data_ptr() != masters[i].const_data_ptr())
        parameter.copy_(masters[i]);
}

void Fsdp::complete_parameters() {
  for (const auto& unit : units_) finish_gather(*unit);
}

FsdpStrategy make_fsdp(const Replica& replica, const FsdpOptions& options, const OptimizerFactory& make, bool report) {
  auto fsdp = std::make_shared<Fsdp>(replica, options);
  FsdpStrategy strategy;
  strategy.exchange = std::make_unique<FsdpExchange>(fsdp);
  strategy.update = std::make_unique<FsdpUpdate>(replica, fsdp, make, report);
  strategy.fsdp = std::move(fsdp);
  return strategy;
}

}  // namespace kymo::training

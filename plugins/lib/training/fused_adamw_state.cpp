// SPDX-License-Identifier: Apache-2.0
#include "training/fused_adamw_state.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace kymo::training {
namespace {

using torch::optim::OptimizerParamGroup;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

constexpr const char* kFormat = "kymo_fused_adamw";
constexpr std::int64_t kFormatVersion = 1;

constexpr std::array<std::pair<const char*, double AdamWSetting::*>, 6> kNumbers{
    {{"learning_rate", &AdamWSetting::learning_rate},
     {"beta1", &AdamWSetting::beta1},
     {"beta2", &AdamWSetting::beta2},
     {"epsilon", &AdamWSetting::epsilon},
     {"weight_decay", &AdamWSetting::weight_decay},
     {"max_norm", &AdamWSetting::max_norm}}};
constexpr std::array<std::pair<const char*, bool AdamWSetting::*>, 2> kSwitches{
    {{"own_kernel", &AdamWSetting::own_kernel}, {"fp32_moments", &AdamWSetting::fp32_moments}}};
constexpr std::array<std::pair<const char*, at::Tensor AdamWState::*>, 4> kTensors{
    {{"step", &AdamWState::step},
     {"mean", &AdamWState::mean},
     {"square_mean", &AdamWState::square_mean},
     {"master_weight", &AdamWState::master_weight}}};

std::string numbered(const char* name, std::size_t i) { return std::string(name) + "_" + std::to_string(i); }

/// An IValue, or an archive nested in another.
template <typename Value>
Value read(InputArchive& archive, const std::string& key) {
  Value value;
  if (!archive.try_read(key, value))
    throw std::invalid_argument("the saved optimizer state has no '" + key +
                                "'; load a complete file that FusedAdamW::save() wrote");
  return value;
}

std::size_t read_count(InputArchive& archive, const char* key) {
  return static_cast<std::size_t>(read<c10::IValue>(archive, key).toInt());
}

/// The saved settings and states of one group; a parameter without a state has not been updated.
struct SavedGroup {
  AdamWSetting setting;
  std::vector<std::vector<std::int64_t>> sizes;
  std::vector<std::optional<AdamWState>> states;
};

void write_parameter(OutputArchive& archive, const at::Tensor& parameter, const AdamWState* state) {
  archive.write("sizes", c10::IValue(parameter.sizes()));
  if (!state) return;
  for (const auto& [name, tensor] : kTensors)
    if ((state->*tensor).defined()) archive.write(name, state->*tensor, /*is_buffer=*/true);
}

std::optional<AdamWState> read_state(InputArchive& archive) {
  AdamWState state;
  for (const auto& [name, tensor] : kTensors) archive.try_read(name, state.*tensor, /*is_buffer=*/true);
  return state.step.defined() ? std::optional(std::move(state)) : std::nullopt;
}

SavedGroup read_group(InputArchive archive) {
  SavedGroup saved;
  for (const auto& [name, number] : kNumbers) saved.setting.*number = read<c10::IValue>(archive, name).toDouble();
  for (const auto& [name, is_on] : kSwitches) saved.setting.*is_on = read<c10::IValue>(archive, name).toBool();
  adamw::checked(saved.setting);
  const auto count = read_count(archive, "parameters");
  for (std::size_t i = 0; i < count; ++i) {
    InputArchive parameter = read<InputArchive>(archive, numbered("parameter", i));
    saved.sizes.push_back(read<c10::IValue>(parameter, "sizes").toIntVector());
    saved.states.push_back(read_state(parameter));
  }
  return saved;
}

std::vector<SavedGroup> read_groups(InputArchive& archive) {
  c10::IValue version;
  if (!archive.try_read(kFormat, version) || !version.isInt())
    throw std::invalid_argument(
        "the archive does not contain a state of FusedAdamW; load a file that FusedAdamW::save() wrote");
  if (version.toInt() != kFormatVersion)
    throw std::invalid_argument("the saved optimizer state has format " + std::to_string(version.toInt()) +
                                "; this version of FusedAdamW reads format " + std::to_string(kFormatVersion));
  const auto count = read_count(archive, "groups");
  std::vector<SavedGroup> groups;
  for (std::size_t i = 0; i < count; ++i)
    groups.push_back(read_group(read<InputArchive>(archive, numbered("group", i))));
  return groups;
}

void check_count(const std::string& owner, const char* counted, std::size_t saved, std::size_t present) {
  if (saved == present) return;
  throw std::invalid_argument(owner + " has " + std::to_string(saved) + " " + counted + ", but the optimizer has " +
                              std::to_string(present) + "; load a state that was saved for the same parameters");
}

void check_moment(const char* name, const at::Tensor& moment, const at::Tensor& parameter, at::ScalarType required) {
  if (moment.defined() && moment.scalar_type() == required && moment.sizes() == parameter.sizes()) return;
  throw std::invalid_argument(std::string("its saved ") + name + " is " +
                              (moment.defined() ? adamw::described(moment) : "missing") + "; it must be " +
                              c10::toString(required) +
                              " of the same shape: load a state that was saved for parameters of the same type");
}

/// `present` is the current state, or nullptr.
void check_state(const at::Tensor& parameter, const SavedGroup& saved, std::size_t i, const AdamWState* present) {
  if (parameter.sizes() != at::IntArrayRef(saved.sizes[i]))
    throw std::invalid_argument("its optimizer state was saved for a parameter with sizes " +
                                c10::str(at::IntArrayRef(saved.sizes[i])) +
                                "; load a state that was saved for the same parameters");
  const std::optional<AdamWState>& state = saved.states[i];
  const bool has_master = state && state->master_weight.defined();
  if (present && present->master_weight.defined() && !has_master)
    throw std::invalid_argument(
        "the saved optimizer state has no master weight for it; load a state that was saved with master weights");
  if (!state) return;
  if (has_master) adamw::check_master_weight(parameter, state->master_weight.to(parameter.device()), saved.setting);
  const at::ScalarType type = adamw::moment_type(parameter, saved.setting, has_master);
  if (state->step.scalar_type() != at::kFloat || state->step.dim() != 0)
    throw std::invalid_argument("its saved step count is " + adamw::described(state->step) +
                                "; it must be a Float scalar: load a file that FusedAdamW::save() wrote");
  check_moment("mean", state->mean, parameter, type);
  check_moment("square_mean", state->square_mean, parameter, type);
}

/// Overwrites `present` if it has the type of `saved`, so that it keeps its address, and otherwise replaces it.
void assign(at::Tensor& present, const at::Tensor& saved, const at::Device& device) {
  if (present.defined() && saved.defined() && present.scalar_type() == saved.scalar_type())
    present.copy_(saved);
  else
    present = saved.defined() ? saved.to(device, /*non_blocking=*/false, /*copy=*/true) : at::Tensor();
}

}  // namespace

void FusedAdamW::save(OutputArchive& archive) const {
  archive.write(kFormat, c10::IValue(kFormatVersion));
  archive.write("groups", c10::IValue(static_cast<std::int64_t>(param_groups_.size())));
  for (std::size_t g = 0; g < param_groups_.size(); ++g) {
    const std::vector<at::Tensor>& parameters = param_groups_[g].params();
    const AdamWSetting& setting = adamw::setting_of(param_groups_[g]);
    OutputArchive group(archive.compilation_unit());
    for (const auto& [name, number] : kNumbers) group.write(name, c10::IValue(setting.*number));
    for (const auto& [name, is_on] : kSwitches) group.write(name, c10::IValue(setting.*is_on));
    group.write("parameters", c10::IValue(static_cast<std::int64_t>(parameters.size())));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      OutputArchive parameter(archive.compilation_unit());
      write_parameter(parameter, parameters[i], state_of(parameters[i]));
      group.write(numbered("parameter", i), parameter);
    }
    archive.write(numbered("group", g), group);
  }
}

void FusedAdamW::load(InputArchive& archive) {
  const c10::NoGradGuard no_gradients;
  const std::vector<SavedGroup> saved = read_groups(archive);
  check_count("the saved optimizer state", "parameter groups", saved.size(), param_groups_.size());
  for (std::size_t g = 0; g < saved.size(); ++g) {
    const std::vector<at::Tensor>& parameters = param_groups_[g].params();
    check_count("group " + std::to_string(g) + " of the saved optimizer state", "parameters", saved[g].states.size(),
                parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      try {
        check_state(parameters[i], saved[g], i, state_of(parameters[i]));
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("parameter " + std::to_string(i) + " of group " + std::to_string(g) + " is " +
                                    adamw::described(parameters[i]) + ", but " + error.what());
      }
    }
  }
  for (std::size_t g = 0; g < saved.size(); ++g) {
    param_groups_[g].set_options(std::make_unique<AdamWSetting>(saved[g].setting));
    for (std::size_t i = 0; i < saved[g].states.size(); ++i)
      restore(param_groups_[g].params()[i], saved[g].states[i] ? &*saved[g].states[i] : nullptr);
  }
}

void FusedAdamW::restore(const at::Tensor& parameter, const AdamWState* saved) {
  const auto found = state_.find(parameter.unsafeGetTensorImpl());
  if (!saved) {  // not updated yet
    if (found == state_.end()) return;
    auto& state = static_cast<AdamWState&>(*found->second);
    for (const at::Tensor& tensor : {state.step, state.mean, state.square_mean}) tensor.zero_();
    return;
  }
  if (found == state_.end()) state_[parameter.unsafeGetTensorImpl()] = std::make_unique<AdamWState>();
  auto& state = static_cast<AdamWState&>(*state_[parameter.unsafeGetTensorImpl()]);
  for (const auto& [name, tensor] : kTensors) assign(state.*tensor, saved->*tensor, parameter.device());
  if (state.master_weight.defined()) parameter.copy_(state.master_weight);
}

}  // namespace kymo::training

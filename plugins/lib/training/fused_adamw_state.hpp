// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/fused_adamw.hpp"

/// Requirements on the settings and the state of FusedAdamW.
namespace kymo::training::adamw {

/// Throws std::invalid_argument for settings out of range.
const AdamWSetting& checked(const AdamWSetting& setting);
const AdamWSetting& setting_of(const torch::optim::OptimizerParamGroup& group);

/// Type, sizes and device, for messages.
std::string described(const at::Tensor& tensor);

/// The type of the moments of a parameter.
at::ScalarType moment_type(const at::Tensor& parameter, const AdamWSetting& setting, bool has_master);

/// Throws std::invalid_argument unless the parameter can be updated by this master weight.
void check_master_weight(const at::Tensor& parameter, const at::Tensor& master, const AdamWSetting& setting);

}  // namespace kymo::training::adamw

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace kymo::training {

/// The tensors that an optimizer keeps of its parameters: of FusedAdamW and of LibTorch's SGD, Adam, AdamW, Adagrad and
/// RMSprop. Many are made in the first step. Throws std::invalid_argument for a state of another type.
std::vector<at::Tensor> state_tensors(const torch::optim::Optimizer& optimizer);

}  // namespace kymo::training

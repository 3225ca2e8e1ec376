// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace kymo::training {

/// State tensors of an optimizer: FusedAdamW and LibTorch's SGD, Adam, AdamW, Adagrad and RMSprop. Many are allocated
/// in the first step. Throws std::invalid_argument for other state types.
std::vector<at::Tensor> state_tensors(const torch::optim::Optimizer& optimizer);

}  // namespace kymo::training

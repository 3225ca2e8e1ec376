// SPDX-License-Identifier: Apache-2.0
#include "training/optimizer_state.hpp"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <initializer_list>
#include <stdexcept>

#include "training/fused_adamw.hpp"

namespace kymo::training {
namespace {

std::vector<at::Tensor> tensors_of(const torch::optim::OptimizerParamState& state) {
  if (const auto* fused = dynamic_cast<const AdamWState*>(&state))
    return {fused->mean, fused->square_mean, fused->step};
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

std::vector<at::Tensor> state_tensors(const torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& entry : optimizer.state())
    if (entry.second)
      for (const at::Tensor& tensor : tensors_of(*entry.second))
        if (tensor.defined()) all.push_back(tensor);
  return all;
}

}  // namespace kymo::training

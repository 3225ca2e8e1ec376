// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>

#include <algorithm>
#include <vector>

#include "training/fused_adamw.hpp"

/// Common code of the tests of FusedAdamW.
namespace kymo::training {

inline std::vector<at::Tensor> random_parameters(at::ScalarType dtype) {
  return {at::randn({7, 3}, at::TensorOptions().dtype(dtype)), at::randn({33}, at::TensorOptions().dtype(dtype))};
}

inline std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.clone());
  return all;
}

inline void set_gradients(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const at::Tensor gradient = at::randn_like(ours[i]);
    ours[i].mutable_grad() = gradient;
    theirs[i].mutable_grad() = gradient.clone();
  }
}

inline double difference(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& theirs) {
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(worst, (ours[i] - theirs[i]).abs().max().item<double>());
  return worst;
}

inline AdamWSetting setting_of(double rate, double decay) {
  AdamWSetting setting;
  setting.learning_rate = rate;
  setting.weight_decay = decay;
  return setting;
}

inline AdamWSetting own_kernel(bool fp32_moments = false) {
  AdamWSetting setting = setting_of(1e-2, 0.1);
  setting.own_kernel = true;
  setting.fp32_moments = fp32_moments;
  return setting;
}

/// A bf16 parameter with a master weight beside an fp32 parameter without one, and the same as two fp32 parameters.
struct MasterWeights {
  std::vector<at::Tensor> exact = random_parameters(at::kFloat), masters = {exact[0].clone(), at::Tensor()};
  std::vector<at::Tensor> rounded = {exact[0].to(at::kBFloat16), exact[1].clone()};

  void draw_gradients() {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      rounded[i].mutable_grad() = at::randn_like(rounded[i]);
      exact[i].mutable_grad() = rounded[i].grad().to(at::kFloat);
    }
  }
};

}  // namespace kymo::training

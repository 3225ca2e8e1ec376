// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "training/fused_adamw.hpp"
#include "training/sharded_optimizer.hpp"

/// Common code of the sharded optimizer tests: the same values on every rank, without a generator shared by threads.
namespace sharded_case {

using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<std::vector<std::int64_t>>;
inline const Sizes kLater{{31}, {8, 13}};  ///< of a parameter group that is added after some steps

/// Float64 values in (−1, 1), determined by the seed and the position.
inline at::Tensor values(const std::vector<std::int64_t>& sizes, int seed) {
  const at::Tensor positions = at::arange(c10::multiply_integers(sizes), at::kDouble);
  return at::sin(positions * 12.9898 + 78.233 * seed + 1).view(sizes).clone();
}

inline Tensors parameters(const Sizes& sizes) {
  Tensors made;
  for (std::size_t i = 0; i < sizes.size(); ++i) made.push_back(values(sizes[i], static_cast<int>(i)));
  return made;
}

/// Gradient of parameter `index` in a step, on a rank.
inline at::Tensor gradient(const at::Tensor& parameter, std::size_t index, int step, int rank) {
  return values(parameter.sizes().vec(), 1000 * step + 37 * rank + static_cast<int>(index) + 7);
}

inline at::Tensor mean_gradient(const at::Tensor& parameter, std::size_t index, int step, int ranks) {
  at::Tensor sum = gradient(parameter, index, step, 0);
  for (int rank = 1; rank < ranks; ++rank) sum += gradient(parameter, index, step, rank);
  return sum / static_cast<double>(ranks);
}

inline void set_mean_gradients(const Tensors& parameters, int step, int ranks) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i].mutable_grad() = mean_gradient(parameters[i], i, step, ranks);
}

inline double difference(const Tensors& ours, const Tensors& theirs) {
  double worst = ours.size() == theirs.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    worst = std::max(worst, (ours[i] - theirs[i]).abs().max().item<double>());
  return worst;
}

struct Kind {
  std::string name;
  kymo::training::OptimizerFactory make;
  int state_per_element;  ///< state elements per parameter element
};

inline std::vector<Kind> kinds() {
  using namespace torch::optim;
  using kymo::training::optimizer_factory;
  kymo::training::AdamWSetting fused;
  fused.learning_rate = 1e-2;
  return {{"fused_adamw", optimizer_factory<kymo::training::FusedAdamW>(fused), 2},
          {"adamw", optimizer_factory<AdamW>(AdamWOptions(1e-2)), 2},
          {"adam_amsgrad", optimizer_factory<Adam>(AdamOptions(1e-2).amsgrad(true)), 3},
          {"sgd", optimizer_factory<SGD>(SGDOptions(1e-2)), 0},
          {"sgd_momentum", optimizer_factory<SGD>(SGDOptions(1e-2).momentum(0.9).nesterov(true)), 1},
          {"adagrad", optimizer_factory<Adagrad>(AdagradOptions(1e-2).lr_decay(0.1)), 1},
          {"rmsprop", optimizer_factory<RMSprop>(RMSpropOptions(1e-2).centered(true).momentum(0.5)), 3}};
}

/// bf16 parameters with master weights, alternating with fp32 ones without.
struct WithMasters {
  Tensors parameters, masters;

  WithMasters() {
    const Sizes sizes{{17, 33}, {5}, {64, 9}, {129}, {31}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const at::Tensor exact = values(sizes[i], static_cast<int>(i)).to(at::kFloat);
      const bool has_master = i % 2 == 0;
      parameters.push_back(has_master ? exact.to(at::kBFloat16) : exact.clone());
      masters.push_back(has_master ? exact : at::Tensor());
    }
  }

  /// The same on all ranks, so that rounding their mean to bf16 changes nothing.
  void set_gradients(int step) const {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].mutable_grad() = gradient(parameters[i], i, step, 0).to(parameters[i].scalar_type());
  }

  static kymo::training::OptimizerFactory factory() {
    kymo::training::AdamWSetting setting;
    setting.learning_rate = 1e-2;
    setting.own_kernel = true;
    return kymo::training::optimizer_factory<kymo::training::FusedAdamW>(setting);
  }
};

inline void expect_equal_bits(const Tensors& ours, const Tensors& theirs) {
  for (std::size_t i = 0; i < theirs.size(); ++i) EXPECT_TRUE(at::equal(ours[i], theirs[i])) << i;
}

}  // namespace sharded_case

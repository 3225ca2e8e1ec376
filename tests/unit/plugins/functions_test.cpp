// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <tuple>

#include "transformer/model.hpp"
#include "transformer/reference.hpp"

namespace kymo::transformer {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 3, kSequence = 5, kWidth = 8;

at::Tensor random(at::IntArrayRef shape, at::ScalarType dtype = at::kDouble) {
  return at::randn(shape, at::TensorOptions().dtype(at::kDouble)).to(dtype);
}

at::Tensor random_projection(at::ScalarType dtype = at::kDouble) {
  return random({kBatch * kSequence, 3 * kHeads * kWidth}, dtype);
}

Rotary rotary(at::ScalarType dtype = at::kDouble) {
  return make_rotary(kSequence, kWidth, 10000.0, at::TensorOptions().dtype(dtype));
}

/// The same, composed of differentiable operations: real cosines and sines on even and odd columns.
std::array<at::Tensor, 3> composed(const at::Tensor& projected) {
  const at::Tensor parts = projected.view({kBatch, kSequence, 3, kHeads, kWidth}).permute({2, 0, 3, 1, 4});
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor rates =
      (at::arange(0, kWidth, 2, options) * (-std::log(10000.0) / static_cast<double>(kWidth))).exp();
  const at::Tensor angle = at::arange(kSequence, options).unsqueeze(1) * rates;
  const auto turn = [&](const at::Tensor& x) {
    const at::Tensor even = x.slice(-1, 0, kWidth, 2), odd = x.slice(-1, 1, kWidth, 2);
    return at::stack({even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()}, -1).flatten(-2);
  };
  return {turn(parts[0]), turn(parts[1]), parts[2]};
}

at::Tensor weighted_sum(const std::array<at::Tensor, 3>& parts, const std::vector<at::Tensor>& weights) {
  return (parts[0] * weights[0]).sum() + (parts[1] * weights[1]).sum() + (parts[2] * weights[2]).sum();
}

class SplitAndRotate : public testing::TestWithParam<std::tuple<Layout, bool>> {
 protected:
  static Layout layout() { return std::get<0>(GetParam()); }
  static bool fused() { return std::get<1>(GetParam()); }
};

TEST_P(SplitAndRotate, EqualsItsPartsAndTheirGradients) {
  const at::Tensor projected = random_projection();
  std::vector<at::Tensor> weights;
  for (int i = 0; i < 3; ++i) weights.push_back(random({kBatch, kHeads, kSequence, kWidth}));
  at::Tensor ours = projected.clone().requires_grad_(true), theirs = projected.clone().requires_grad_(true);
  // A multiple of the leaf, because the function may overwrite its argument.
  const auto actual = split_and_rotate(ours * 1.0, rotary(), kBatch, kHeads, layout(), fused());
  const auto expected = composed(theirs);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(distance(actual[i], expected[i]).absolute, 1e-13);
  weighted_sum(actual, weights).backward();
  weighted_sum(expected, weights).backward();
  EXPECT_LT(distance(ours.grad(), theirs.grad()).absolute, 1e-13);
}

TEST_P(SplitAndRotate, TakesGradientsOfAnyStride) {
  const at::Tensor projected = random_projection();
  at::Tensor ours = projected.clone().requires_grad_(true), theirs = projected.clone().requires_grad_(true);
  const auto transposed = [&](const std::array<at::Tensor, 3>& parts) {
    return (parts[0].transpose(-2, -1).contiguous().pow(2).sum() + parts[1].sum() +
            parts[2].slice(-1, 0, kWidth, 3).pow(3).sum());
  };
  transposed(split_and_rotate(ours * 1.0, rotary(), kBatch, kHeads, layout(), fused())).backward();
  transposed(composed(theirs)).backward();
  EXPECT_LT(distance(ours.grad(), theirs.grad()).absolute, 1e-12);
}

TEST_P(SplitAndRotate, RoundsNarrowTypesOnce) {
  const at::Tensor projected = random_projection(at::kBFloat16);
  const auto exact = composed(projected.to(at::kDouble));
  const auto actual = split_and_rotate(projected.clone(), rotary(at::kBFloat16), kBatch, kHeads, layout(), fused());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(actual[i].scalar_type(), at::kBFloat16);
    EXPECT_LT(distance(actual[i], exact[i]).relative, 1.0 / 256);
  }
}

TEST_P(SplitAndRotate, KeepsThePromisedLayout) {
  const auto parts = split_and_rotate(random_projection(), rotary(), kBatch, kHeads, layout(), fused());
  for (const at::Tensor& part : parts) {
    EXPECT_EQ(part.sizes(), (std::vector<std::int64_t>{kBatch, kHeads, kSequence, kWidth}));
    EXPECT_EQ(part.is_contiguous(), layout() == Layout::kHeadsFirst);
    EXPECT_EQ(part.stride(-1), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SplitAndRotate,
                         testing::Combine(testing::Values(Layout::kHeadsFirst, Layout::kTokensFirst), testing::Bool()));

TEST(Rotary, KeepsLengthsAndLeavesPositionZero) {
  const at::Tensor projected = random_projection();
  const at::Tensor before =
      projected.view({kBatch, kSequence, 3, kHeads, kWidth}).permute({2, 0, 3, 1, 4}).contiguous();
  const auto after = split_and_rotate(projected, rotary(), kBatch, kHeads, Layout::kHeadsFirst);
  EXPECT_LT(distance(after[0].pow(2).sum(-1), before[0].pow(2).sum(-1)).absolute, 1e-13);
  EXPECT_TRUE(at::equal(after[0].select(2, 0), before[0].select(2, 0)));
  EXPECT_GT(distance(after[0].select(2, 1), before[0].select(2, 1)).absolute, 1e-2);
  EXPECT_TRUE(at::equal(after[2], before[2]));
}

TEST(Rotary, ScoresDependOnTheDistanceAlone) {
  const at::Tensor token = random({1, 3 * kHeads * kWidth});
  const auto parts =
      split_and_rotate(token.expand({kSequence, -1}).contiguous(), rotary(), 1, kHeads, Layout::kHeadsFirst);
  const at::Tensor scores = parts[0].matmul(parts[1].transpose(-2, -1));  // every position contains the same token
  for (std::int64_t i = 1; i < kSequence; ++i)
    for (std::int64_t j = 1; j < kSequence; ++j)
      EXPECT_LT(
          (scores.select(2, i).select(2, j) - scores.select(2, i - 1).select(2, j - 1)).abs().max().item<double>(),
          1e-12);
}

TEST(SwiGlu, EqualsItsPartsAndTheirGradients) {
  const at::Tensor input = random({6, 10}), weight = random({6, 5});
  at::Tensor ours = input.clone().requires_grad_(true), theirs = input.clone().requires_grad_(true);
  const at::Tensor actual = swiglu(ours), expected = at::silu(theirs.slice(1, 0, 5)) * theirs.slice(1, 5, 10);
  EXPECT_LT(distance(actual, expected).absolute, 1e-15);
  (actual * weight).sum().backward();
  (expected * weight).sum().backward();
  EXPECT_LT(distance(ours.grad(), theirs.grad()).absolute, 1e-14);
}

}  // namespace
}  // namespace kymo::transformer

// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/isinf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "unit/ops/attention_case.hpp"

namespace kymo::ops::testing {
namespace {

double largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }
double typical(const at::Tensor& tensor) { return tensor.to(at::kDouble).pow(2).mean().sqrt().item<double>(); }

/// The largest difference; NaN if any value is NaN. A peer may return four dimensions instead of three.
double furthest(const at::Tensor& actual, const at::Tensor& expected) {
  return largest(actual.reshape(expected.sizes()).to(at::kDouble) - expected.to(at::kDouble));
}

/// Maximum error of rounding the exact result to the type, relative to its largest value.
double rounding_of(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return 1.0 / 256;
  if (dtype == at::kHalf) return 1.0 / 2048;
  return dtype == at::kFloat ? 1e-5 : 1e-13;
}

/// Maximum error of rounding values of up to this size to the type: half a unit in the last place.
double half_last_place(double size, at::ScalarType dtype) {
  if (size == 0 || !std::isfinite(size)) return 0;
  const int digits = dtype == at::kBFloat16 ? 8 : dtype == at::kHalf ? 11 : dtype == at::kFloat ? 24 : 53;
  return std::ldexp(1.0, std::ilogb(size) - digits);
}

struct Part {
  const char* name;
  at::Tensor Results::* member;
  double small;  ///< a size of this result below which all of it is rounding, such as the gradient of a softmax over
                 ///< one key
};

std::vector<Part> parts(const Case& made, const Inputs& inputs) {
  std::vector<Part> all{{"output", &Results::output, 0}};
  if (!made.has_gradients()) return all;
  // Gradients of scores are differences with rowsum(dO ∘ O). If weights are 0 or 1, the terms cancel, and the remainder
  // is the rounding error of the sum and, as O was stored in 16 bits, that of O. LibTorch's CPU attention keeps the
  // weights. Its flash attention on a GPU has the same kind of error, but its size is random: if a few rows dominate,
  // one value of O rounded the other way accounts for most of it.
  const bool rounded_output = made.values != Values::kNormal && inputs.query.element_size() == 2;
  const double score_gradient = made.resolved_scale() * typical(inputs.output_gradient) * typical(inputs.value) *
                                std::sqrt(static_cast<double>(made.width)) *
                                (rounded_output ? rounding_of(inputs.query.scalar_type()) : 1e-6);
  all.push_back({"query gradient", &Results::query_gradient, score_gradient * largest(inputs.key)});
  all.push_back({"key gradient", &Results::key_gradient, score_gradient * largest(inputs.query)});
  all.push_back({"value gradient", &Results::value_gradient, 0});
  return all;
}

/// Error of scores of this size in fp32, which every implementation uses: the relative error of an exponential.
double score_rounding(const Case& made, const Inputs& inputs) {
  if (made.values == Values::kNormal || made.values == Values::kMinusInfinity) return 0;
  const double scores =
      made.resolved_scale() * largest(inputs.query) * largest(inputs.key) * std::sqrt(static_cast<double>(made.width));
  // Tensor cores truncate a sum after every 16 products instead of rounding it. LibTorch's kernels do so in the same
  // way in both passes, so that it cancels in their gradients; here, the passes may use different instructions.
  const bool cut = inputs.query.is_cuda() && inputs.query.element_size() == 2;
  return scores * (inputs.query.scalar_type() == at::kDouble ? 1e-15
                   : cut                                     ? 6e-8 * std::sqrt(static_cast<double>(made.width) / 16)
                                                             : 6e-8);
}

void expect_log_sum_exp(const at::Tensor& actual, const at::Tensor& expected, double rounding) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  const at::Tensor nothing = expected.isinf();
  EXPECT_TRUE(actual.isinf().equal(nothing)) << "a row without keys is -inf, and no other";
  EXPECT_TRUE(actual.masked_select(nothing).lt(0).all().item<bool>());
  const at::Tensor wanted = expected.masked_fill(nothing, 0);
  const double scale = std::max(1.0, largest(wanted));
  EXPECT_LE(furthest(actual.masked_fill(nothing, 0), wanted), std::max(rounding, 1e-5) * scale) << "log-sum-exp";
}

}  // namespace

void expect_right(const Case& made, const Inputs& inputs, const Expected& expected, const Results& actual) {
  const at::ScalarType dtype = inputs.query.scalar_type();
  expect_log_sum_exp(actual.log_sum_exp, expected.exact.log_sum_exp, score_rounding(made, inputs));
  for (const Part& part : parts(made, inputs)) {
    const at::Tensor& wanted = expected.exact.*part.member;
    ASSERT_EQ((actual.*part.member).sizes(), wanted.sizes()) << part.name;
    ASSERT_EQ((actual.*part.member).scalar_type(), dtype) << part.name;
    const double error = furthest(actual.*part.member, wanted),
                 its_error = furthest(expected.libtorch.*part.member, wanted);
    double allowed = std::max(largest(wanted) * std::max(rounding_of(dtype), score_rounding(made, inputs)), part.small);
    if (std::isfinite(its_error)) allowed = std::max(allowed, 1.5 * its_error);
    // Both results are finally rounded to the type: of two equally accurate ones near the midpoint of two representable
    // values, either may get the closer one.
    if (inputs.query.element_size() == 2) allowed += half_last_place(largest(wanted), dtype);
    EXPECT_LE(error, allowed) << part.name << ": LibTorch's is off by " << its_error << ", the largest value is "
                              << largest(wanted);
  }
}

void expect_close(const Case& made, const Inputs& inputs, const Results& actual, const Results& other,
                  double relative) {
  for (const Part& part : parts(made, inputs)) {
    const at::Tensor& wanted = other.*part.member;
    const double allowed = std::max(largest(wanted) * std::max(relative, score_rounding(made, inputs)), part.small);
    EXPECT_LE(furthest(actual.*part.member, wanted), allowed)
        << part.name << ", the largest value is " << largest(wanted);
  }
}

void expect_equal(const Results& actual, const Results& other) {
  for (const auto member : {&Results::output, &Results::log_sum_exp, &Results::query_gradient, &Results::key_gradient,
                            &Results::value_gradient}) {
    if ((other.*member).defined()) {
      EXPECT_TRUE(at::equal(actual.*member, other.*member));
    }
  }
}

}  // namespace kymo::ops::testing

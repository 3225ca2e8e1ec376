// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

/// Random attention calls and their expected results, shared by the tests on the CPU and on a GPU.
namespace kymo::ops::testing {

/// Memory layout of the tensors of a case.
enum class Lying {
  kContiguous,
  kTokensFirst,  ///< [batch, sequence, heads, d] seen with heads and sequence swapped
  kFused,        ///< query, key and value of one head adjacent in one tensor, like a projection's output
};

enum class Values {
  kNormal,
  kLarge,          ///< scores of hundreds: almost every weight is 0 or 1
  kSpread,         ///< scores from 1e-3 to 1e3 in one row
  kMinusInfinity,  ///< some keys, in the last batch element all, have a score of −∞; gradients are undefined
};

struct Case {
  std::int64_t batch = 1, heads = 1, key_heads = 1, query_length = 1, key_length = 1, width = 16;
  bool causal = false;
  bool with_heads = true;  ///< four dimensions; otherwise three, and heads is 1
  std::optional<double> scale{};
  Lying lying = Lying::kContiguous;
  Values values = Values::kNormal;
  std::uint64_t seed = 0;

  double resolved_scale() const;
  bool has_gradients() const { return values != Values::kMinusInfinity; }
  std::string text() const;
};

/// The case with this number, always the same. Lengths are 1 to `longest`, odd and even with equal probability; d is 16
/// to 256 in multiples of 8.
Case random_case(std::uint64_t number, std::int64_t longest);

struct Inputs {
  at::Tensor query, key, value, output_gradient;
};
Inputs draw(const Case& made, at::ScalarType dtype, const at::Device& device);

struct Results {
  at::Tensor output, log_sum_exp;                           // log_sum_exp is undefined if the peer does not return it
  at::Tensor query_gradient, key_gradient, value_gradient;  // undefined for a case without gradients
};

/// Computed in float64 on the device of the inputs, from the definition.
Results reference(const Case& made, const Inputs& inputs);
/// kymo::ops::attention() and its gradient, and the log-sum-exp of attention_forward().
Results from_operators(const Case& made, const Inputs& inputs, const std::string& implementation,
                       bool deterministic = false);
/// LibTorch's own attention in the type of the inputs: its flash kernels on a GPU in bf16 and fp16, otherwise attention
/// with an explicit mask.
Results from_libtorch(const Case& made, const Inputs& inputs);

/// Reference results.
struct Expected {
  Results exact, libtorch;
};
inline Expected expected_of(const Case& made, const Inputs& inputs) {
  return {reference(made, inputs), from_libtorch(made, inputs)};
}

/// Expects results to match the reference: the error is at most 1.5 times that of LibTorch, or that of rounding the
/// exact result. In fp32, this rounding error is 1e-5 of the largest value; in 16-bit types, half a unit in the last
/// place of the largest value is added.
void expect_right(const Case& made, const Inputs& inputs, const Expected& expected, const Results& actual);
/// Expects two results to differ by at most `relative` times the largest value.
void expect_close(const Case& made, const Inputs& inputs, const Results& actual, const Results& other, double relative);
/// Expects bitwise equal results.
void expect_equal(const Results& actual, const Results& other);

}  // namespace kymo::ops::testing

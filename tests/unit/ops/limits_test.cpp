// SPDX-License-Identifier: Apache-2.0
// Inputs that the operators reject, their memory use, and the limits of their ranges.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>

#include <atomic>
#include <limits>

#include "ops/attention.hpp"
#include "unit/ops/attention_case.hpp"

namespace kymo::ops::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The first line of the exception thrown by a call.
template <class Function>
std::string failure_reason(const Function& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "nothing was thrown";
}

TEST(Errors, SayWhatWasWrongAndWhatWouldBeRight) {
  const at::Tensor q = at::randn({2, 4, 6, 16}), k = at::randn({2, 2, 6, 16});
  const auto of = [](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const AttentionOptions& options = {}) {
    const std::string text = failure_reason([&] { attention(query, key, value, options); });
    EXPECT_THAT(text, Not(HasSubstr("\n")));
    return text;
  };
  EXPECT_THAT(of(q[0][0], k, k),
              HasSubstr("q has 2 dimensions; it must be [batch, sequence, d] or [batch, heads, sequence, d]"));
  EXPECT_THAT(of(q, k[0], k[0]), HasSubstr("k has 3 dimensions but q has 4; they must be equal"));
  EXPECT_THAT(of(q.to(at::kInt), k, k), HasSubstr("q is Int; it must be Float, BFloat16, Half or Double"));
  EXPECT_THAT(of(q, k, k.to(at::kHalf)), HasSubstr("v is Half but q is Float; they must have the same type"));
  EXPECT_THAT(of(q, k, k.narrow(2, 0, 5)),
              HasSubstr("v is [2, 2, 5, 16] but k is [2, 2, 6, 16]; they must have the same shape"));
  EXPECT_THAT(of(q, k.narrow(0, 0, 1), k.narrow(0, 0, 1)),
              HasSubstr("q has batch size 2 but k has 1; they must be equal"));
  EXPECT_THAT(of(q, at::randn({2, 2, 6, 24}), at::randn({2, 2, 6, 24})),
              HasSubstr("q has d = 16 but k has 24; they must be equal"));
  EXPECT_THAT(of(q.narrow(1, 0, 3), k, k),
              HasSubstr("q has 3 heads and k has 2; the heads of q must be a multiple of those of k"));
  EXPECT_THAT(of(q, k.narrow(2, 0, 0), k.narrow(2, 0, 0)), HasSubstr("k has 0; both must be at least 1"));
  EXPECT_THAT(of(at::randn({2, 4, 16, 6}).transpose(2, 3), k, k),
              HasSubstr("the last dimension of q has stride 6; it must be contiguous"));
  EXPECT_THAT(of(q, k, k, {.implementation = "paged"}),
              HasSubstr("unknown implementation 'paged', must be one of auto, naive, tiled, flash"));
  EXPECT_THAT(of(q, k, k, {.scale = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("scale is nan; it must be finite"));
  EXPECT_THAT(of(q, k, k, {.implementation = "flash"}),
              HasSubstr("flash requires CUDA tensors, but q is on cpu; use implementation 'tiled' or 'auto'"));
}

TEST(Errors, OfBackward) {
  const at::Tensor q = at::randn({2, 4, 6, 16});
  const auto [o, lse] = attention_forward(q, q, q);
  const auto of = [&, &out = o](const at::Tensor& gradient, const at::Tensor& sums) {
    return failure_reason([&] { attention_backward(gradient, q, q, q, out, sums); });
  };
  EXPECT_THAT(of(o.narrow(2, 0, 5), lse),
              HasSubstr("do is [2, 4, 5, 16] but q is [2, 4, 6, 16]; they must have the same shape"));
  EXPECT_THAT(of(o, lse.narrow(2, 0, 5)), HasSubstr("lse is [2, 4, 5]; it must be [2, 4, 6], one value per row of q"));
  EXPECT_THAT(of(o, lse.to(at::kDouble)), HasSubstr("lse is Double; it must be Float"));
}

TEST(Choice, IsTiledWithoutAGpu) {
  const at::Tensor q = at::randn({1, 6, 16});
  EXPECT_EQ(chosen_implementation(q, q, q), "tiled");
  EXPECT_EQ(chosen_implementation(q, q, q, {.implementation = "naive"}), "naive");
  EXPECT_EQ(why_not_flash(q, q, q), "requires CUDA tensors, but q is on cpu");
}

/// Records the largest requested block while it replaces LibTorch's CPU allocator.
class LargestBlock final : public c10::Allocator {
 public:
  LargestBlock() : before_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, kPriority); }
  ~LargestBlock() override { c10::SetCPUAllocator(before_, kPriority); }
  LargestBlock(const LargestBlock&) = delete;
  LargestBlock& operator=(const LargestBlock&) = delete;

  c10::DataPtr allocate(std::size_t bytes) override {
    for (std::size_t seen = largest_; bytes > seen && !largest_.compare_exchange_weak(seen, bytes);) {
    }
    return before_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return before_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { before_->copy_data(to, from, bytes); }
  std::size_t bytes() const { return largest_; }

 private:
  static constexpr std::uint8_t kPriority = 200;
  c10::Allocator* before_;
  std::atomic<std::size_t> largest_ = 0;
};

std::size_t largest_block(const std::string& implementation, std::int64_t length) {
  const at::Tensor q = at::randn({1, length, 16}), gradient = at::randn({1, length, 16});
  const LargestBlock noted;
  const AttentionOptions options{.causal = true, .implementation = implementation};
  const auto [o, lse] = attention_forward(q, q, q, options);
  attention_backward(gradient, q, q, q, o, lse, options);
  return noted.bytes();
}

TEST(Memory, GrowsWithTheLengthAndNotWithItsSquare) {
  constexpr std::int64_t kLength = 3000;
  EXPECT_GE(largest_block("naive", kLength), std::size_t{4 * kLength * kLength});
  EXPECT_LE(largest_block("tiled", kLength), std::size_t{4 * kLength * 16}) << "the inputs themselves are the largest";
}

TEST(Ends, ManyKeysAndManyQueries) {
  Case made{
      .batch = 1, .heads = 2, .key_heads = 1, .query_length = 3, .key_length = 131'072, .width = 16, .causal = true};
  Inputs inputs = draw(made, at::kFloat, at::kCPU);
  expect_right(made, inputs, expected_of(made, inputs), from_operators(made, inputs, "tiled"));
  std::swap(made.query_length, made.key_length);
  made.causal = false;
  inputs = draw(made, at::kFloat, at::kCPU);
  expect_right(made, inputs, expected_of(made, inputs), from_operators(made, inputs, "tiled"));
}

TEST(Ends, OneQueryOneKeyAndAnyWidth) {
  for (const char* implementation : {"naive", "tiled"})
    for (const std::int64_t width : {1, 7, 16, 256}) {
      const Case made{.width = width, .causal = true};
      const Inputs inputs = draw(made, at::kFloat, at::kCPU);
      const Results results = from_operators(made, inputs, implementation);
      expect_right(made, inputs, expected_of(made, inputs), results);
      EXPECT_TRUE(at::equal(results.output, inputs.value));
    }
}

TEST(Ends, NoBatchGivesNothing) {
  const at::Tensor q = at::randn({0, 2, 5, 16}).requires_grad_(true);
  const at::Tensor o = attention(q, q, q);
  o.sum().backward();
  EXPECT_EQ(o.sizes(), q.sizes());
  EXPECT_EQ(q.grad().sizes(), q.sizes());
}

TEST(Ends, RowsWithoutKeysGiveNothingAndTakeNothing) {
  for (const char* implementation : {"naive", "tiled"}) {
    const Case made{.heads = 2, .key_heads = 2, .query_length = 300, .key_length = 20, .causal = true};
    const Inputs inputs = draw(made, at::kFloat, at::kCPU);
    const Results results = from_operators(made, inputs, implementation);
    const at::Tensor blind = at::zeros({1, 2, 280, 16});
    EXPECT_TRUE(at::equal(results.output.narrow(2, 0, 280), blind));
    EXPECT_TRUE(at::equal(results.query_gradient.narrow(2, 0, 280), blind));
    EXPECT_TRUE(results.log_sum_exp.narrow(2, 0, 280).eq(-std::numeric_limits<double>::infinity()).all().item<bool>());
    expect_right(made, inputs, expected_of(made, inputs), results);
  }
}

TEST(Ends, AnExpandedInputAndGradientWork) {
  const at::Tensor shared = at::randn({1, 1, 40, 16}), query = at::randn({2, 4, 40, 16}).requires_grad_(true);
  const at::Tensor expanded = shared.expand({2, 4, 40, 16});
  attention(query, expanded, expanded, {.causal = true}).sum().backward();  // the gradient of a sum has all strides 0
  const at::Tensor gradient = query.grad().clone();
  query.mutable_grad().reset();
  const at::Tensor whole = expanded.contiguous();
  attention(query, whole, whole, {.causal = true}).mul(at::ones({2, 4, 40, 16})).sum().backward();
  EXPECT_TRUE(at::equal(query.grad(), gradient));
}

}  // namespace
}  // namespace kymo::ops::testing

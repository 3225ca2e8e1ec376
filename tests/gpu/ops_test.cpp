// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels through the operators: the cases of tests/unit/ops on a GPU, and GPU-only cases.
#include <ATen/TensorOperators.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <thread>
#include <tuple>

#include "gpu/machine.hpp"
#include "ops/attention.hpp"
#include "unit/ops/attention_case.hpp"

namespace kymo::ops::testing {
namespace {

constexpr std::uint64_t kCasesOfAGroup = 40;
constexpr std::int64_t kLongest = 900;

at::Device gpu() { return at::Device(at::kCUDA, 0); }
at::TensorOptions on_gpu(at::ScalarType dtype) { return at::TensorOptions().dtype(dtype).device(gpu()); }

class FlashOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!machine::has_gpu()) GTEST_SKIP() << "no GPU";
    if (!KYMO_HAS_FLASH) GTEST_SKIP() << "this build does not contain the flash kernels";
    ASSERT_GT(c10::cuda::device_count(), 0);
    const cudaDeviceProp& properties = *at::cuda::getDeviceProperties(0);
    if (properties.major < 8) GTEST_SKIP() << "the flash kernels need compute capability 8.0 or higher";
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kFloat}) {
      const at::Tensor any = at::randn({1, 1, 16, 64}, on_gpu(dtype));
      ASSERT_EQ(why_not_flash(any, any, any), "") << "on a GPU of compute capability " << properties.major << "."
                                                  << properties.minor << ", " << c10::toString(dtype);
    }
  }
};

using Group = std::tuple<at::ScalarType, std::uint64_t>;

class FlashOnRandomShapes : public FlashOnGpu, public ::testing::WithParamInterface<Group> {};

TEST_P(FlashOnRandomShapes, IsRight) {
  const auto [dtype, group] = GetParam();
  for (std::uint64_t i = 0; i < kCasesOfAGroup; ++i) {
    const Case made = random_case(group * kCasesOfAGroup + i, kLongest);
    SCOPED_TRACE(made.text());
    const Inputs inputs = draw(made, dtype, gpu());
    const Expected expected = expected_of(made, inputs);
    const Results flash = from_operators(made, inputs, "flash"),
                  fixed = from_operators(made, inputs, "flash", /*deterministic=*/true);
    expect_right(made, inputs, expected, flash);
    expect_right(made, inputs, expected, fixed);
    if (dtype == at::kFloat) expect_close(made, inputs, flash, from_operators(made, inputs, "naive"), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, FlashOnRandomShapes,
                         ::testing::Combine(::testing::Values(at::kBFloat16, at::kHalf, at::kFloat),
                                            ::testing::Range<std::uint64_t>(0, 8)),
                         [](const auto& made) {
                           return std::string(c10::toString(std::get<0>(made.param))) + "_" +
                                  std::to_string(std::get<1>(made.param));
                         });

TEST_F(FlashOnGpu, TiledAndNaiveAreRightToo) {
  for (std::uint64_t number = 0; number < 40; ++number)
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const Case made = random_case(number, 300);
      SCOPED_TRACE(made.text());
      const Inputs inputs = draw(made, dtype, gpu());
      const Expected expected = expected_of(made, inputs);
      for (const char* implementation : {"tiled", "naive"})
        expect_right(made, inputs, expected, from_operators(made, inputs, implementation));
    }
}

TEST_F(FlashOnGpu, EveryWidth) {
  for (std::int64_t width = 16; width <= 256; width += 8)
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kFloat})
      for (const bool causal : {true, false}) {
        const Case made{.batch = 2,
                        .heads = 4,
                        .key_heads = 2,
                        .query_length = 257,
                        .key_length = 391,
                        .width = width,
                        .causal = causal,
                        .seed = 5};
        SCOPED_TRACE(made.text() + " " + c10::toString(dtype));
        const Inputs inputs = draw(made, dtype, gpu());
        expect_right(made, inputs, expected_of(made, inputs), from_operators(made, inputs, "flash"));
      }
}

TEST_F(FlashOnGpu, DeterministicRepeatsToTheLastBit) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kFloat})
    for (const std::int64_t width : {64, 128}) {
      const Case made{.batch = 2,
                      .heads = 8,
                      .key_heads = 4,
                      .query_length = 1000,
                      .key_length = 1000,
                      .width = width,
                      .causal = width == 64,
                      .seed = 3};
      const Inputs inputs = draw(made, dtype, gpu());
      const Results first = from_operators(made, inputs, "flash", /*deterministic=*/true);
      for (int i = 0; i < 20; ++i) expect_equal(from_operators(made, inputs, "flash", /*deterministic=*/true), first);
      at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
      expect_equal(from_operators(made, inputs, "flash"), first);
      at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
    }
}

TEST_F(FlashOnGpu, RowsAnywhereInMemory) {
  const at::Tensor buffer = at::randn({2, 3, 130, 70}, on_gpu(at::kBFloat16));
  const at::Tensor odd = buffer.narrow(3, 3, 64);  // row addresses are only aligned to 2 bytes
  const at::Tensor whole = odd.contiguous();
  const AttentionOptions options{.causal = true, .implementation = "flash", .deterministic = true};
  const auto [o, lse] = attention_forward(odd, odd, odd, options);
  const auto [o_whole, lse_whole] = attention_forward(whole, whole, whole, options);
  EXPECT_TRUE(at::equal(o, o_whole) && at::equal(lse, lse_whole));
  const auto [dq, dk, dv] = attention_backward(odd, odd, odd, odd, o, lse, options);
  const auto [dq_whole, dk_whole, dv_whole] =
      attention_backward(whole, whole, whole, whole, o_whole, lse_whole, options);
  EXPECT_TRUE(at::equal(dq, dq_whole) && at::equal(dk, dk_whole) && at::equal(dv, dv_whole));
}

TEST_F(FlashOnGpu, OffsetsBeyondTwoToThe31) {
  // 132 heads of 131072 keys of 128 elements: 2.2e9 elements, 4.4 GB per tensor.
  const Case last{.query_length = 5, .key_length = 131'072, .width = 128, .causal = true, .with_heads = true};
  const std::int64_t heads = 132;
  const auto options = on_gpu(at::kBFloat16);
  const at::Tensor query = at::randn({1, heads, 5, 128}, options), gradient = at::randn({1, heads, 5, 128}, options);
  const at::Tensor key = at::randn({1, heads, 131'072, 128}, options),
                   value = at::randn({1, heads, 131'072, 128}, options);
  const AttentionOptions flash{.causal = true, .implementation = "flash"};
  Results results;
  std::tie(results.output, results.log_sum_exp) = attention_forward(query, key, value, flash);
  std::tie(results.query_gradient, results.key_gradient, results.value_gradient) =
      attention_backward(gradient, query, key, value, results.output, results.log_sum_exp, flash);
  const auto of_last = [&](const at::Tensor& tensor) { return tensor.narrow(1, heads - 1, 1); };
  const Inputs inputs{of_last(query), of_last(key), of_last(value), of_last(gradient)};
  const Results ends{of_last(results.output), of_last(results.log_sum_exp), of_last(results.query_gradient),
                     of_last(results.key_gradient), of_last(results.value_gradient)};
  expect_right(last, inputs, expected_of(last, inputs), ends);
}

TEST_F(FlashOnGpu, SeveralStreamsAtOnce) {
  constexpr int kStreams = 4, kRounds = 8;
  const Case made{
      .batch = 2, .heads = 6, .key_heads = 6, .query_length = 777, .key_length = 777, .width = 64, .causal = true};
  std::vector<Inputs> inputs;
  std::vector<Results> alone;
  for (int i = 0; i < kStreams; ++i) {
    Case other = made;
    other.seed = static_cast<std::uint64_t>(i);
    inputs.push_back(draw(other, at::kBFloat16, gpu()));
    alone.push_back(from_operators(other, inputs.back(), "flash", /*deterministic=*/true));
  }
  c10::cuda::device_synchronize();
  std::vector<std::vector<Results>> together(kStreams);
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kStreams; ++i) {
      const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromPool(false, 0));
      together[static_cast<std::size_t>(i)].push_back(
          from_operators(made, inputs[static_cast<std::size_t>(i)], "flash", /*deterministic=*/true));
    }
  c10::cuda::device_synchronize();
  for (std::size_t i = 0; i < kStreams; ++i)
    for (const Results& results : together[i]) expect_equal(results, alone[i]);
}

TEST_F(FlashOnGpu, AThreadThatHasNotCalledCudaBefore) {
  const at::Tensor q = at::randn({1, 2, 160, 64}, on_gpu(at::kBFloat16));
  const at::Tensor expected = attention(q, q, q, {.implementation = "flash"});
  attention(q, q, q, {.implementation = "flash"});  // its output and workspace stay in the allocator's cache
  at::Tensor found;
  std::string error;
  std::thread([&] {
    try {
      found = attention(q, q, q, {.implementation = "flash"});
    } catch (const std::exception& failure) {
      error = failure.what();
    }
  }).join();
  ASSERT_EQ(error, "");
  EXPECT_TRUE(at::equal(found, expected));
}

TEST_F(FlashOnGpu, ReplaysOfAGraph) {
  const Case made{
      .batch = 1, .heads = 8, .key_heads = 2, .query_length = 500, .key_length = 500, .width = 128, .causal = true};
  const Inputs inputs = draw(made, at::kBFloat16, gpu());
  const AttentionOptions options{.causal = true, .implementation = "flash", .deterministic = true};
  const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromPool(false, 0));
  const auto step = [&] {
    Results results;
    std::tie(results.output, results.log_sum_exp) = attention_forward(inputs.query, inputs.key, inputs.value, options);
    std::tie(results.query_gradient, results.key_gradient, results.value_gradient) = attention_backward(
        inputs.output_gradient, inputs.query, inputs.key, inputs.value, results.output, results.log_sum_exp, options);
    return results;
  };
  step();
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  const Results replayed = step();
  graph.capture_end();
  for (int i = 0; i < 3; ++i) {
    inputs.query.mul_(0.5);
    graph.replay();
    expect_equal(replayed, step());
  }
}

TEST_F(FlashOnGpu, AutoTakesItAndFallsBack) {
  const at::Tensor fits = at::randn({1, 2, 64, 64}, on_gpu(at::kBFloat16)),
                   exact = at::randn({1, 2, 64, 64}, on_gpu(at::kDouble));
  const at::Tensor narrow = at::randn({1, 2, 64, 12}, on_gpu(at::kBFloat16));
  EXPECT_EQ(chosen_implementation(fits, fits, fits), "flash");
  EXPECT_EQ(chosen_implementation(exact, exact, exact), "tiled");
  EXPECT_EQ(chosen_implementation(narrow, narrow, narrow), "tiled");
  EXPECT_THROW(attention(narrow, narrow, narrow, {.implementation = "flash"}), c10::Error);
}

}  // namespace
}  // namespace kymo::ops::testing

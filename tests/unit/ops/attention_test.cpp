// SPDX-License-Identifier: Apache-2.0
// The operators on random shapes, compared with float64 and with LibTorch's own attention, on the CPU.
#include <gtest/gtest.h>

#include "unit/ops/attention_case.hpp"

namespace kymo::ops::testing {
namespace {

constexpr std::uint64_t kCasesOfAGroup = 20;
constexpr std::int64_t kLongest = 300;  // more than two query tiles, two key tiles

class RandomShapes : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  template <class Function>
  static void for_each(const Function& check) {
    for (std::uint64_t i = 0; i < kCasesOfAGroup; ++i) {
      const Case made = random_case(GetParam() * kCasesOfAGroup + i, kLongest);
      SCOPED_TRACE(made.text());
      check(made);
    }
  }
};

TEST_P(RandomShapes, AreRightInFp32AndTiledEqualsNaive) {
  for_each([](const Case& made) {
    const Inputs inputs = draw(made, at::kFloat, at::kCPU);
    const Expected expected = expected_of(made, inputs);
    const Results naive = from_operators(made, inputs, "naive"), tiled = from_operators(made, inputs, "tiled");
    expect_right(made, inputs, expected, naive);
    expect_right(made, inputs, expected, tiled);
    expect_close(made, inputs, tiled, naive, 1e-5);
  });
}

INSTANTIATE_TEST_SUITE_P(Groups, RandomShapes, ::testing::Range<std::uint64_t>(0, 16));

class RandomShapesInOtherTypes : public RandomShapes {};

TEST_P(RandomShapesInOtherTypes, AreRight) {
  for_each([](const Case& made) {
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kDouble}) {
      SCOPED_TRACE(c10::toString(dtype));
      const Inputs inputs = draw(made, dtype, at::kCPU);
      expect_right(made, inputs, expected_of(made, inputs), from_operators(made, inputs, "auto"));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Groups, RandomShapesInOtherTypes, ::testing::Range<std::uint64_t>(16, 20));

TEST(RandomCases, CoverWhatTheyShould) {
  int causal = 0, unequal = 0, grouped = 0, flat = 0, odd = 0, empty_rows = 0, scaled = 0, several_tiles = 0;
  int lying[3] = {}, values[4] = {};
  for (std::uint64_t number = 0; number < 320; ++number) {
    const Case made = random_case(number, kLongest);
    causal += made.causal;
    unequal += made.query_length != made.key_length;
    grouped += made.heads != made.key_heads;
    flat += !made.with_heads;
    odd += made.query_length % 2;
    empty_rows += made.causal && made.query_length > made.key_length;
    scaled += made.scale.has_value();
    several_tiles += made.query_length > 128 && made.key_length > 256;
    ++lying[static_cast<int>(made.lying)];
    ++values[static_cast<int>(made.values)];
  }
  for (const int seen : {causal, unequal, grouped, flat, odd, empty_rows, scaled, several_tiles}) EXPECT_GE(seen, 10);
  for (const int seen : lying) EXPECT_GE(seen, 50);
  for (const int seen : values) EXPECT_GE(seen, 20);
}

}  // namespace
}  // namespace kymo::ops::testing

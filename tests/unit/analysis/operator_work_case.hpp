// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "event/derived.hpp"

/// What the tests of the work of operators share, those of LibTorch's and those of a library.
namespace kymo {

/// A call of an operator and its work.
struct OperatorWorkCase {
  const char* name;
  const char* arguments;
  event::WorkKind kind;
  const char* dtype;
  double flops;
  double bytes;
};

inline void expect_work(const event::CallWork& work, const OperatorWorkCase& expected) {
  EXPECT_EQ(work.kind, expected.kind);
  EXPECT_EQ(work.dtype, expected.dtype);
  EXPECT_EQ(work.flops, expected.flops);
  EXPECT_EQ(work.bytes, expected.bytes);
  if (work.kind != event::WorkKind::kAttention) {
    EXPECT_EQ(work.model_flops, expected.flops);
    EXPECT_EQ(work.masked_model_flops, expected.flops);
  }
}

inline constexpr double kScores = 2 * 3 * 16 * 16;            // batch, heads, queries, keys
inline constexpr double kCausalScores = 2 * 3 * 16 * 17 / 2;  // query i sees i + 1 keys
inline constexpr double kTensor = 2 * 3 * 16 * 8 * 2;         // bytes of a bf16 operand of head size 8
inline constexpr double kLse = 2 * 3 * 16 * 4;                // bytes of the log-sum-exp

#define QKV "bf16[2, 3, 16, 8] bf16[2, 3, 16, 8] bf16[2, 3, 16, 8]"

}  // namespace kymo

// SPDX-License-Identifier: Apache-2.0
// The work of kymo's operators as a worker gets it from their library. The expected numbers are written as products of
// the sizes, from the definition of each operator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/analysis/operator_work_case.hpp"
#include "worker/library_work.hpp"

namespace kymo::worker {
namespace {

using event::CallWork;
using event::WorkKind;

CallWork work_of(const std::string& name, const std::string& arguments) {
  event::Texts texts;
  event::Operator call;
  call.name = texts.intern(name);
  call.shapes = texts.intern(arguments);
  std::vector<event::LibraryOpWork> found;
  LibraryWork().add(texts, call, found);
  EXPECT_EQ(found.size(), 1u) << name;
  return found.empty() ? CallWork() : found[0].call;
}

using Case = OperatorWorkCase;

class OperatorWorkTest : public testing::TestWithParam<Case> {};

TEST_P(OperatorWorkTest, HasTheCountsOfItsDefinition) {
  expect_work(work_of(GetParam().name, GetParam().arguments), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Attention, OperatorWorkTest,
    testing::Values(
        Case{"kymo::attention_forward", QKV, WorkKind::kAttention, "bf16", 4 * 8 * kScores, 4 * kTensor + kLse},
        Case{"kymo::attention_forward", QKV " true", WorkKind::kAttention, "bf16", 4 * 8 * kCausalScores,
             4 * kTensor + kLse},
        // Three query heads share a key head; the last three of four queries see one, two and three of three keys.
        Case{"kymo::attention", "f32[1, 3, 4, 8] f32[1, 1, 3, 8] f32[1, 1, 3, 8] true", WorkKind::kAttention, "f32",
             3 * (1 + 2 + 3) * 4 * 8, 4 * (2 * 3 * 4 * 8 + 2 * 3 * 8) + 4 * 3 * 4},
        // Two queries behind six keys see five and six of them.
        Case{"kymo::attention", "f32[1, 2, 8] f32[1, 6, 8] f32[1, 6, 8] true", WorkKind::kAttention, "f32",
             (5 + 6) * 4 * 8, 4 * (2 * 2 * 8 + 2 * 6 * 8) + 4 * 2}));

TEST(OperatorWork, ModelFlopsOfAttentionCountMaskedScoresAndNoRecomputation) {
  const CallWork forward = work_of("kymo::attention_forward", QKV " true");
  EXPECT_EQ(forward.model_flops, 4 * 8 * kScores);
  EXPECT_EQ(forward.masked_model_flops, 4 * 8 * kCausalScores);
  const CallWork backward =
      work_of("kymo::attention_backward", "bf16[2, 3, 16, 8] " QKV " bf16[2, 3, 16, 8] f32[2, 3, 16] true");
  EXPECT_EQ(backward.flops, 10 * 8 * kCausalScores) << "five products";
  EXPECT_EQ(backward.model_flops, 8 * 8 * kScores) << "four products";
  EXPECT_EQ(backward.masked_model_flops, 8 * 8 * kCausalScores);
}

constexpr double kJoint = 2 * 10 * 3 * 4 * 8;  // elements of query, key and value

INSTANTIATE_TEST_SUITE_P(
    FusedLayers, OperatorWorkTest,
    testing::Values(Case{"kymo::rms_norm", "bf16[10, 8] f32[8] _ None", WorkKind::kNormalization, "bf16", 4 * 80,
                         2 * 80 + 4 * 8 + 2 * 80},
                    Case{"kymo::add_rms_norm", "bf16[10, 8] f32[10, 8] f32[8] _", WorkKind::kNormalization, "bf16",
                         5 * 80, 2 * 80 + 4 * 80 + 4 * 8 + 2 * 80 + 4 * 80},
                    Case{"kymo::rms_norm_backward", "bf16[10, 8] f32[10, 8] f32[10, 8] f32[8] _",
                         WorkKind::kNormalization, "f32", 10 * 80, 2 * 80 + 3 * 4 * 80 + 2 * 4 * 8},
                    Case{"kymo::rms_norm_backward", "bf16[10, 8] None bf16[10, 8] bf16[8] _", WorkKind::kNormalization,
                         "bf16", 9 * 80, 3 * 2 * 80 + 2 * 2 * 8},
                    Case{"kymo::swiglu", "bf16[10, 16]", WorkKind::kElementwise, "bf16", 6 * 80, 2 * 160 + 2 * 80},
                    Case{"kymo::swiglu_backward", "bf16[10, 8] bf16[10, 16]", WorkKind::kElementwise, "bf16", 11 * 80,
                         2 * 80 + 2 * 2 * 160},
                    Case{"kymo::rotary", "bf16[2, 10, 3, 4, 8] f32[10, 4, 2] false", WorkKind::kElementwise, "bf16",
                         3 * kJoint * 2 / 3, 2 * 2 * kJoint + 4 * 80},
                    Case{"kymo::rotary_", "bf16[2, 10, 3, 4, 8] f32[10, 4, 2] false", WorkKind::kElementwise, "bf16",
                         3 * kJoint * 2 / 3, 2 * 2 * kJoint * 2 / 3 + 4 * 80},
                    Case{"kymo::rotary_join", "f32[2, 4, 10, 8] f32[2, 4, 10, 8] f32[2, 4, 10, 8] f32[10, 4, 2] true",
                         WorkKind::kElementwise, "f32", 3 * kJoint * 2 / 3, 2 * 4 * kJoint + 4 * 80},
                    Case{"kymo::linear_cross_entropy_forward", "bf16[10, 8] bf16[100, 8] i64[10] 0 true true",
                         WorkKind::kMatmul, "bf16", 3 * 2 * 10 * 8 * 100 + 5 * 10 * 100,
                         2 * 2 * 80 + 2 * 2 * 800 + 8 * 10},
                    Case{"kymo::linear_cross_entropy_forward", "f32[10, 8] f32[100, 8] i64[10] 0 false false",
                         WorkKind::kMatmul, "f32", 2 * 10 * 8 * 100 + 5 * 10 * 100, 4 * 80 + 4 * 800 + 8 * 10},
                    Case{"kymo::adamw_",
                         "{f32[8], f32[2]} {f32[8], f32[2]} {f32[8], f32[2]} {f32[8], f32[2]} {f32[], f32[]}",
                         WorkKind::kOptimizer, "f32", 14 * 10, 7 * 4 * 10},
                    Case{"kymo::adamw_",
                         "{f32[8], f32[2]} {bf16[8], f32[2]} {f32[8], f32[2]} {f32[8], f32[2]} {f32[], f32[]} _ _ "
                         "_ _ _ None _ false {bf16[8], bf16[0]}",
                         WorkKind::kOptimizer, "f32", 14 * 10, 6 * 4 * 10 + 2 * 8 + 4 * 2 + 2 * 8}));

TEST(OperatorWork, UnexpectedArgumentsMakeTheWorkUnknown) {
  for (const char* name :
       {"attention", "attention_forward", "attention_backward", "rms_norm", "add_rms_norm", "rms_norm_backward",
        "swiglu", "swiglu_backward", "rotary", "rotary_", "rotary_join", "linear_cross_entropy_forward", "adamw_"}) {
    const CallWork work = work_of(std::string("kymo::") + name, "None 1");
    EXPECT_EQ(work.kind, WorkKind::kUnknown) << name;
    EXPECT_FALSE(work.flops || work.bytes) << name;
  }
}

}  // namespace
}  // namespace kymo::worker

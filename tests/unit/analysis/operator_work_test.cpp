// SPDX-License-Identifier: Apache-2.0
#include "analysis/operator_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/analysis/operator_work_case.hpp"

/// The expected numbers are written as products of the sizes, from the definition of each operator.
namespace kymo::analysis {
namespace {

using event::CallWork;
using event::WorkKind;

CallWork work_of(const std::string& name, const std::string& arguments) {
  const auto parsed = Arguments::parse(arguments);
  EXPECT_TRUE(parsed) << arguments;
  const auto work = operator_work(name, parsed.value_or(Arguments()));
  EXPECT_TRUE(work) << "no rule for " << name;
  return work.value_or(CallWork());
}

using Case = OperatorWorkCase;

class OperatorWorkTest : public testing::TestWithParam<Case> {};

TEST_P(OperatorWorkTest, HasTheCountsOfItsDefinition) {
  expect_work(work_of(GetParam().name, GetParam().arguments), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Matmul, OperatorWorkTest,
    testing::Values(Case{"aten::mm", "f32[5, 7] f32[7, 11]", WorkKind::kMatmul, "f32", 2 * 5 * 7 * 11,
                         4 * (5 * 7 + 7 * 11 + 5 * 11)},
                    Case{"aten::mm", "bf16[5, 7] bf16[7, 11]", WorkKind::kMatmul, "bf16", 2 * 5 * 7 * 11,
                         2 * (5 * 7 + 7 * 11 + 5 * 11)},
                    Case{"aten::mm", "f32[0, 7] f32[7, 11]", WorkKind::kMatmul, "f32", 0, 4 * 7 * 11},
                    Case{"aten::bmm", "f16[3, 5, 7] f16[3, 7, 11]", WorkKind::kMatmul, "f16", 3 * 2 * 5 * 7 * 11,
                         3 * 2 * (5 * 7 + 7 * 11 + 5 * 11)},
                    Case{"aten::bmm", "f32[3*, 5, 7] f32[3, 7, 11]", WorkKind::kMatmul, "f32", 3 * 2 * 5 * 7 * 11,
                         4 * (5 * 7 + 3 * 7 * 11 + 3 * 5 * 11)},
                    Case{"aten::addmm", "f32[11] f32[5, 7] f32[7, 11] 1 1", WorkKind::kMatmul, "f32", 2 * 5 * 7 * 11,
                         4 * (11 + 5 * 7 + 7 * 11 + 5 * 11)},
                    Case{"aten::baddbmm", "f32[3, 5, 11] f32[3, 5, 7] f32[3, 7, 11]", WorkKind::kMatmul, "f32",
                         3 * 2 * 5 * 7 * 11, 4 * 3 * (5 * 11 + 5 * 7 + 7 * 11 + 5 * 11)},
                    Case{"aten::mv", "f32[5, 7] f32[7]", WorkKind::kMatmul, "f32", 2 * 5 * 7, 4 * (5 * 7 + 7 + 5)},
                    Case{"aten::dot", "f64[7] f64[7]", WorkKind::kMatmul, "f64", 2 * 7, 8 * (7 + 7 + 1)},
                    Case{"aten::_scaled_mm", "f8[5, 7] f8[7, 11] f32[] f32[]", WorkKind::kMatmul, "f8", 2 * 5 * 7 * 11,
                         5 * 7 + 7 * 11 + 2 * 5 * 11},
                    Case{"mkldnn::_linear_pointwise", "f32[2, 5, 7] f32[11, 7] f32[11]", WorkKind::kMatmul, "f32",
                         2 * 10 * 7 * 11, 4 * (10 * 7 + 11 * 7 + 11 + 10 * 11)}));

INSTANTIATE_TEST_SUITE_P(
    Attention, OperatorWorkTest,
    testing::Values(Case{"aten::_scaled_dot_product_flash_attention_for_cpu", QKV " _ false None", WorkKind::kAttention,
                         "bf16", 4 * 8 * kScores, 4 * kTensor + kLse},
                    Case{"aten::_scaled_dot_product_flash_attention_for_cpu", QKV " _ true None", WorkKind::kAttention,
                         "bf16", 4 * 8 * kCausalScores, 4 * kTensor + kLse},
                    Case{"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                         "bf16[2, 3, 16, 8] " QKV " bf16[2, 3, 16, 8] f32[2, 3, 16] _ true", WorkKind::kAttention,
                         "bf16", 10 * 8 * kCausalScores, 8 * kTensor + kLse},
                    Case{"aten::_scaled_dot_product_efficient_attention", QKV " None true _ true", WorkKind::kAttention,
                         "bf16", 4 * 8 * kCausalScores, 4 * kTensor + kLse},
                    Case{"aten::_scaled_dot_product_cudnn_attention", QKV " None true _ false false",
                         WorkKind::kAttention, "bf16", 4 * 8 * kScores, 4 * kTensor + kLse},
                    Case{"aten::_scaled_dot_product_cudnn_attention_backward",
                         "bf16[2, 3, 16, 8] " QKV
                         " bf16[2, 3, 16, 8] f32[2, 3, 16, 1] i64[] i64[] None None None 16 16 _ true",
                         WorkKind::kAttention, "bf16", 10 * 8 * kCausalScores, 8 * kTensor + kLse},
                    // Aligned at the top left, the third and fourth query see all three keys: 1 + 2 + 3 + 3.
                    Case{"aten::_scaled_dot_product_flash_attention",
                         "f32[1, 1, 4, 8] f32[1, 1, 3, 8] f32[1, 1, 3, 8] _ true", WorkKind::kAttention, "f32",
                         (1 + 2 + 3 + 3) * 4 * 8, 4 * (2 * 4 * 8 + 2 * 3 * 8) + 4 * 4},
                    // Two queries before six keys see one and two of them.
                    Case{"aten::_scaled_dot_product_flash_attention", "f32[1, 2, 8] f32[1, 6, 8] f32[1, 6, 8] _ true",
                         WorkKind::kAttention, "f32", (1 + 2) * 4 * 8, 4 * (2 * 2 * 8 + 2 * 6 * 8) + 4 * 2}));

INSTANTIATE_TEST_SUITE_P(
    Convolution, OperatorWorkTest,
    testing::Values(
        // 8 x 8 with a kernel of 3, padding 1 and stride 2 gives 4 x 4.
        Case{"aten::convolution", "f32[2, 6, 8, 8] f32[10, 6, 3, 3] f32[10] (2, 2) (1, 1) (1, 1) false (0, 0) 1",
             WorkKind::kConvolution, "f32", 2.0 * 2 * 10 * 4 * 4 * 6 * 9,
             4 * (2 * 6 * 64 + 10 * 6 * 9 + 10 + 2 * 10 * 16)},
        Case{"aten::convolution", "f32[2, 6, 8] f32[6, 1, 3] None (1) (1) (1) false (0) 6", WorkKind::kConvolution,
             "f32", 2.0 * 2 * 6 * 8 * 3, 4 * (2 * 6 * 8 + 6 * 3 + 2 * 6 * 8)},
        // Transposed: each input element is multiplied with 5 x 2 weights; 4 gives 8.
        Case{"aten::convolution", "f32[1, 3, 4] f32[3, 5, 2] None (2) (0) (1) true (0) 1", WorkKind::kConvolution,
             "f32", 2.0 * 3 * 4 * 5 * 2, 4 * (3 * 4 + 3 * 5 * 2 + 5 * 8)},
        Case{"aten::convolution_backward",
             "f32[2, 10, 4, 4] f32[2, 6, 8, 8] f32[10, 6, 3, 3] (10) (2, 2) (1, 1) (1, 1) false (0, 0) 1 (true, true, "
             "false)",
             WorkKind::kConvolution, "f32", 2 * 2.0 * 2 * 10 * 4 * 4 * 6 * 9,
             4 * (2 * 10 * 16 + 2 * (2 * 6 * 64 + 10 * 6 * 9))}));

INSTANTIATE_TEST_SUITE_P(
    Elementwise, OperatorWorkTest,
    testing::Values(
        Case{"aten::add", "f32[4, 256] f32[256] 1", WorkKind::kElementwise, "f32", 1024, 4 * (1024 + 256 + 1024)},
        Case{"aten::add", "bf16[4, 256] f32[256] 1", WorkKind::kElementwise, "f32", 1024, 2 * 1024 + 4 * (256 + 1024)},
        Case{"aten::add_", "f32[4, 256] f32[4, 256] 1", WorkKind::kElementwise, "f32", 1024, 3 * 4 * 1024},
        Case{"aten::mul", "bf16[4, 256] f32[]", WorkKind::kElementwise, "bf16", 1024, 2 * 2 * 1024 + 4},
        Case{"aten::mul", "f32[4, 1] f32[1, 256]", WorkKind::kElementwise, "f32", 1024, 4 * (4 + 256 + 1024)},
        Case{"aten::mul", "f32[4*, 256] f32[4, 256]", WorkKind::kElementwise, "f32", 1024, 4 * (256 + 1024 + 1024)},
        Case{"aten::mul", "c64[10] c64[10]", WorkKind::kElementwise, "c64", 6 * 10, 3 * 8 * 10},
        Case{"aten::add", "c64[10] c64[10] 1", WorkKind::kElementwise, "c64", 2 * 10, 3 * 8 * 10},
        Case{"aten::add", "i64[10] i64[10] 1", WorkKind::kElementwise, "i64", 0, 3 * 8 * 10},
        Case{"aten::mul", "f32[0, 256] f32[256]", WorkKind::kElementwise, "f32", 0, 4 * 256},
        Case{"aten::div", "f16[10] bf16[10]", WorkKind::kElementwise, "f32", 10, 2 * 10 + 2 * 10 + 4 * 10},
        Case{"aten::exp", "f32[10]", WorkKind::kElementwise, "f32", 10, 2 * 4 * 10},
        Case{"aten::pow", "f32[10] 2 f32[10]", WorkKind::kElementwise, "f32", 10, 3 * 4 * 10},
        Case{"aten::silu", "f32[10]", WorkKind::kElementwise, "f32", 5 * 10, 2 * 4 * 10},
        Case{"aten::silu_backward", "f32[10] f32[10]", WorkKind::kElementwise, "f32", 9 * 10, 3 * 4 * 10},
        Case{"aten::gelu", "bf16[10]", WorkKind::kElementwise, "bf16", 5 * 10, 2 * 2 * 10},
        Case{"aten::addcmul", "f32[10] f32[10] f32[10]", WorkKind::kElementwise, "f32", 3 * 10, 4 * 4 * 10},
        Case{"aten::where", "bool[10] f32[10] f32[10]", WorkKind::kElementwise, "f32", 0, 10 + 3 * 4 * 10},
        Case{"aten::eq", "i64[10] i64[10]", WorkKind::kElementwise, "i64", 0, 2 * 8 * 10 + 10},
        Case{"aten::native_dropout", "f32[10] _ true", WorkKind::kElementwise, "f32", 2 * 10, 2 * 4 * 10 + 10},
        Case{"aten::_foreach_mul_", "{f32[10], f32[20]}", WorkKind::kOptimizer, "f32", 30, 2 * 4 * 30},
        Case{"aten::_foreach_addcdiv_",
             "{8 tensors, 100 elements, 400 bytes} {8 tensors, 100 elements, 400 bytes} {8 tensors, 100 elements, 400 "
             "bytes}",
             WorkKind::kOptimizer, "", 3 * 100, 4 * 400},
        Case{"aten::_fused_adamw_", "{f32[10]} {bf16[10]} {f32[10]} {f32[10]} {} {f32[]}", WorkKind::kOptimizer, "f32",
             14 * 10, 2 * 10 + 2 * 3 * 4 * 10}));

INSTANTIATE_TEST_SUITE_P(
    Others, OperatorWorkTest,
    testing::Values(
        Case{"aten::native_layer_norm", "f32[4, 8] (8) f32[8] f32[8]", WorkKind::kNormalization, "f32", 8 * 32,
             4 * (2 * 32 + 8 + 8)},
        Case{"aten::_fused_rms_norm", "bf16[4, 8] (8) bf16[8]", WorkKind::kNormalization, "bf16", 4 * 32,
             2 * (2 * 32 + 8)},
        Case{"aten::_softmax", "f32[4, 8] -1 false", WorkKind::kSoftmax, "f32", 5 * 32, 2 * 4 * 32},
        Case{"aten::_log_softmax_backward_data", "f32[4, 8] f32[4, 8] 1 6", WorkKind::kSoftmax, "f32", 4 * 32,
             3 * 4 * 32},
        Case{"aten::sum", "f32[4, 8] None", WorkKind::kReduction, "f32", 32, 4 * (32 + 1)},
        Case{"aten::sum", "f32[4, 8] (0) true None", WorkKind::kReduction, "f32", 32, 4 * (32 + 8)},
        Case{"aten::mean", "f32[4, 8] (-1, 0) false", WorkKind::kReduction, "f32", 32, 4 * (32 + 1)},
        Case{"aten::linalg_vector_norm", "f32[4, 8]", WorkKind::kReduction, "f32", 2 * 32, 4 * (32 + 1)},
        Case{"aten::max_pool2d_with_indices", "f32[2, 3, 9, 8] (2, 2) (2, 2) (0, 0) (1, 1) false", WorkKind::kReduction,
             "f32", 2 * 3 * 4 * 4 * 4, 4 * 2 * 3 * 9 * 8 + (4 + 8) * 2 * 3 * 4 * 4},
        Case{"aten::max_pool2d_with_indices", "bf16[3, 9, 8] (3) () (1) (2) true", WorkKind::kReduction, "bf16",
             3 * 3 * 3 * 9, 2 * 3 * 9 * 8 + (2 + 8) * 3 * 3 * 3},
        Case{"aten::max_pool2d_with_indices_backward",
             "f32[2, 3, 4, 4] f32[2, 3, 9, 8] (2, 2) (2, 2) (0, 0) (1, 1) false i64[2, 3, 4, 4]", WorkKind::kReduction,
             "f32", 2 * 3 * 4 * 4, (4 + 8) * 2 * 3 * 4 * 4 + 4 * 2 * 3 * 9 * 8},
        Case{"aten::avg_pool2d", "f32[2, 3, 9, 9] (3, 3) (2, 2) (1, 1) false true None", WorkKind::kReduction, "f32",
             2 * 3 * 5 * 5 * 9, 4 * 2 * 3 * (9 * 9 + 5 * 5)},
        Case{"aten::avg_pool2d_backward", "f32[2, 3, 5, 5] f32[2, 3, 9, 9] (3, 3) (2, 2) (1, 1) false true None",
             WorkKind::kReduction, "f32", 2 * 3 * 5 * 5 * 9, 4 * 2 * 3 * (9 * 9 + 5 * 5)},
        Case{"aten::_adaptive_avg_pool2d", "f32[2, 3, 9, 9] (4, 4)", WorkKind::kReduction, "f32", 2 * 3 * 9 * 9,
             4 * 2 * 3 * (9 * 9 + 4 * 4)},
        Case{"aten::_adaptive_avg_pool2d_backward", "f32[2, 3, 4, 4] f32[2, 3, 9, 9]", WorkKind::kReduction, "f32",
             2 * 3 * 9 * 9, 4 * 2 * 3 * (9 * 9 + 4 * 4)},
        Case{"aten::sort", "f32[4, 8] -1 false", WorkKind::kReduction, "f32", 32 * 3, (2 * 4 + 8) * 32},
        Case{"aten::sort", "f32[4, 8] None 0 false", WorkKind::kReduction, "f32", 32 * 2, (2 * 4 + 8) * 32},
        Case{"aten::topk", "f32[4, 8] 3 -1 true true", WorkKind::kReduction, "f32", 32, 4 * 32 + (4 + 8) * 4 * 3},
        Case{"aten::copy_", "f32[4, 8] bf16[4, 8] false", WorkKind::kCopy, "f32", 0, 4 * 32 + 2 * 32},
        Case{"aten::_to_copy", "f32[4, 8] 15", WorkKind::kCopy, "bf16", 0, 4 * 32 + 2 * 32},
        Case{"aten::clone", "f32[4*, 8]", WorkKind::kCopy, "f32", 0, 4 * 8 + 4 * 32},
        Case{"aten::cat", "{f32[4, 8], f32[4, 8]} 0", WorkKind::kCopy, "f32", 0, 2 * 2 * 4 * 32},
        Case{"aten::fill_", "f32[4, 8] 0", WorkKind::kCopy, "f32", 0, 4 * 32},
        Case{"aten::embedding", "f32[100, 8] i64[2, 5] -1 false false", WorkKind::kIndexing, "f32", 0,
             8 * 10 + 2 * 4 * 10 * 8},
        Case{"aten::embedding_dense_backward", "f32[2, 5, 8] i64[2, 5] 100 -1 false", WorkKind::kIndexing, "f32", 80,
             4 * 80 + 8 * 10 + 4 * 800},
        Case{"aten::index_select", "f32[100, 8] 0 i64[5]", WorkKind::kIndexing, "f32", 0, 8 * 5 + 2 * 4 * 40},
        Case{"aten::gather", "f32[4, 8] 1 i64[4, 2] false", WorkKind::kIndexing, "f32", 0, 8 * 8 + 2 * 4 * 8},
        Case{"aten::nll_loss_forward", "f32[10, 100] i64[10] None 1 -100", WorkKind::kIndexing, "f32", 10,
             8 * 10 + 4 * 10},
        Case{"aten::nll_loss_backward", "f32[] f32[10, 100] i64[10] None 1 -100 f32[]", WorkKind::kIndexing, "f32", 10,
             8 * 10 + 4 * 1000},
        Case{"c10d::allreduce_", "{f32[100]}", WorkKind::kCollective, "f32", 0, 2 * 400}));

TEST(OperatorWork, ModelFlopsOfAttentionCountMaskedScoresAndNoRecomputation) {
  const CallWork forward = work_of("aten::_scaled_dot_product_flash_attention", QKV " _ true");
  EXPECT_EQ(forward.model_flops, 4 * 8 * kScores);
  EXPECT_EQ(forward.masked_model_flops, 4 * 8 * kCausalScores);
  const CallWork backward = work_of("aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                                    "bf16[2, 3, 16, 8] " QKV " bf16[2, 3, 16, 8] f32[2, 3, 16] _ true");
  EXPECT_EQ(backward.flops, 10 * 8 * kCausalScores) << "five products";
  EXPECT_EQ(backward.model_flops, 8 * 8 * kScores) << "four products";
  EXPECT_EQ(backward.masked_model_flops, 8 * 8 * kCausalScores);
}

TEST(OperatorWork, UnexpectedArgumentsMakeTheWorkUnknownInsteadOfZero) {
  for (const auto& [name, arguments] : std::initializer_list<std::pair<const char*, const char*>>{
           {"aten::mm", ""},
           {"aten::mm", "f32[4, 8]"},
           {"aten::mm", "f32[] f32[]"},
           {"aten::addmm", "None None None"},
           {"aten::_to_copy", "f32[4] 1000"},
           {"aten::convolution", "f32[2, 6, 8, 8] f32[10, 6, 3, 3] None"},
           {"aten::_scaled_dot_product_flash_attention", "f32[4, 8] f32[4, 8] f32[4, 8] _ true"},
           {"aten::embedding_dense_backward", "f32[2, 5, 8] i64[2, 5]"},
           {"aten::avg_pool2d", "f32[2, 3, 9, 9]"},
           {"aten::max_pool2d_with_indices", "f32[9] (2, 2) (2, 2) (0, 0) (1, 1) false"},
           {"aten::topk", "f32[4, 8]"},
           {"aten::add", "1 2"}}) {
    const CallWork work = work_of(name, arguments);
    EXPECT_EQ(work.kind, WorkKind::kUnknown) << name << ' ' << arguments;
    EXPECT_FALSE(work.flops || work.bytes) << name << ' ' << arguments;
  }
  EXPECT_FALSE(operator_work("mylib::scale", Arguments()));
  EXPECT_FALSE(operator_work("aten::_foreach_unheard_of", Arguments()));
}

TEST(Arguments, InvalidDescriptionsAreRejected) {
  for (const char* text : {"f32[4, 256", "f32[4,256]", "f32[4, x]", "f32[4] ...", "?", "{f32[4]", "(1, ", "{3 tensors}",
                           "{3 tensors, 4 elements}", "f32[4]f32[4]", "{f32[4] f32[4]}", " f32[4]", "abc"})
    EXPECT_FALSE(Arguments::parse(text)) << text;
  const auto valid = Arguments::parse("None _ true {None, f32[2]} (false, 3) -7 i64[]");
  ASSERT_TRUE(valid);
  EXPECT_EQ(valid->size(), 7u);
  EXPECT_EQ(valid->integer(2, 0), 1);
  EXPECT_EQ(valid->tensor(3)->elements, 2);
  EXPECT_THAT(*valid->integers(4), testing::ElementsAre(0, 3));
  EXPECT_EQ(valid->integer(5, 0), -7);
  EXPECT_EQ(valid->tensor(6)->elements, 1);
  EXPECT_EQ(valid->tensor(0), nullptr);
  EXPECT_EQ(valid->tensor(7), nullptr);
}

}  // namespace
}  // namespace kymo::analysis

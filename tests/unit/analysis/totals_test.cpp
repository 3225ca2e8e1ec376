// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/derive.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::ActivityKind;

TEST(Totals, OfNothingAreNothing) {
  const event::Trace trace;
  EXPECT_EQ(measured_steps(trace, 0), 0);
  EXPECT_TRUE(kernel_totals(trace, 0).empty());
  EXPECT_TRUE(op_totals(trace, 0).empty());
  EXPECT_TRUE(scope_paths(trace).empty());
  EXPECT_TRUE(kernel_classes(trace, Classifier()).empty());
}

TEST(Totals, SumWhatBelongsTogetherOverTheMeasuredSteps) {
  TraceBuilder made;
  made.activity_at(-1, -1, 0, 100, "gemm");  // during prepare
  made.activity_at(0, 0, 0, 100, "gemm");    // warm-up
  made.activity_at(1, 0, 0, 10, "gemm");
  made.activity_at(2, 0, 20, 50, "gemm");
  made.activity_at(2, 1, 60, 65, "gemm");
  made.activity_at(2, 0, 70, 60, "gemm");  // ends before it starts
  made.activity_at(2, 0, 80, 90, "memcpy", ActivityKind::kMemcpy).bytes = 4096;
  const auto totals = kernel_totals(made.trace, 1);
  ASSERT_EQ(totals.size(), 3u);
  EXPECT_EQ(totals[0].calls, 3);
  EXPECT_EQ(totals[0].total_ns, 40);
  EXPECT_EQ(totals[0].min_ns, 0);
  EXPECT_EQ(totals[0].max_ns, 30);
  EXPECT_EQ(totals[0].bytes, 0);
  EXPECT_EQ(totals[1].phase, 1);
  EXPECT_EQ(totals[1].min_ns, 5);
  EXPECT_EQ(totals[2].kind, ActivityKind::kMemcpy);
  EXPECT_EQ(totals[2].bytes, 4096);
  for (const auto& total : totals) EXPECT_EQ(total.steps, 2);
}

TEST(Totals, TellScopesAndAttributionsApart) {
  TraceBuilder made;
  const auto path = made.trace.texts.intern("a");
  made.activity_at(0, 0, 0, 1).scope = path;
  made.activity_at(0, 0, 1, 2);
  made.activity_at(0, 0, 2, 3).attribution = event::Attribution::kAutograd;
  made.activity_at(0, 0, 3, 4).scope = path;
  const auto totals = kernel_totals(made.trace, 0);
  ASSERT_EQ(totals.size(), 3u);
  EXPECT_EQ(totals[0].calls, 2);
}

TEST(Totals, TellLaunchConfigurationsAndOperatorsApart) {
  TraceBuilder made;
  made.activity_at(0, 0, 0, 1).shape = 2;
  made.activity_at(0, 0, 1, 3).shape = 1;
  made.activity_at(0, 0, 3, 6).shape = 2;
  made.activity_at(0, 0, 6, 10).shape = 2;
  made.activity_at(0, 0, 10, 15, "memcpy", ActivityKind::kMemcpy);
  const auto totals = kernel_totals(made.trace, 0, {5, 5, -1, 5, 6});
  ASSERT_EQ(totals.size(), 4u);
  EXPECT_EQ(totals[0].total_ns, 1 + 4);
  EXPECT_EQ(totals[0].launch_config, 2);
  EXPECT_EQ(totals[0].op_work, 5);
  EXPECT_EQ(totals[1].launch_config, 1);
  EXPECT_EQ(totals[2].op_work, -1);
  EXPECT_EQ(totals[3].launch_config, -1) << "a copy has none";
  EXPECT_EQ(totals[3].op_work, 6);
}

TEST(Totals, StepsWithoutKernelsAreMeasuredToo) {
  TraceBuilder made;
  made.scope("a", 0, 1);
  made.trace.ranges.back().step = 4;
  made.activity_at(5, 0, 0, 1);
  made.op("aten::add", 0, 1, TraceBuilder::position(6, 0));
  made.op("aten::add", 0, 1, TraceBuilder::position(-1, 0));
  EXPECT_EQ(measured_steps(made.trace, 0), 3);
  EXPECT_EQ(measured_steps(made.trace, 5), 2);
  EXPECT_EQ(kernel_totals(made.trace, 5).at(0).steps, 2);
  EXPECT_EQ(op_totals(made.trace, 5).at(0).steps, 2);
}

TEST(Totals, OperatorsGetTheKernelsThatTheyLaunched) {
  TraceBuilder made;
  const auto warm = made.op("aten::mm", 0, 10, TraceBuilder::position(0, 0));
  const auto first = made.op("aten::mm", 10, 30, TraceBuilder::position(1, 0));
  const auto second = made.op("aten::mm", 40, 70, TraceBuilder::position(1, 0));
  made.trace.operators[static_cast<std::size_t>(first)].self_ns = 15;
  made.trace.operators[static_cast<std::size_t>(second)].self_ns = 30;
  const auto backward = made.op("MmBackward0", 80, 90, TraceBuilder::position(1, 1));
  made.trace.operators[static_cast<std::size_t>(backward)].backward = true;
  made.activity_at(0, 0, 0, 1).op = warm;
  made.activity_at(1, 0, 1, 4).op = first;
  made.activity_at(1, 0, 5, 9).op = second;
  made.activity_at(1, 0, 9, 10).op = 12345;
  made.activity_at(1, 0, 10, 11);
  const auto totals = op_totals(made.trace, 1);
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].calls, 2);
  EXPECT_EQ(totals[0].host_ns, 50);
  EXPECT_EQ(totals[0].self_host_ns, 45);
  EXPECT_EQ(totals[0].kernels, 2);
  EXPECT_EQ(totals[0].device_ns, 7);
  EXPECT_TRUE(totals[1].backward);
  EXPECT_EQ(totals[1].kernels, 0);
}

TEST(ScopePaths, LoseTheNumbersOfRepeatedParts) {
  EXPECT_EQ(module_of("block_3/attention/softmax"), "block/attention/softmax");
  EXPECT_EQ(module_of("layers/3/mlp"), "layers/*/mlp");
  EXPECT_EQ(module_of("model/layers.0/self_attn"), "model/layers.*/self_attn");
  EXPECT_EQ(module_of("h.11.mlp"), "h.*.mlp");
  EXPECT_EQ(module_of("a..b."), "a..b.");
  EXPECT_EQ(module_of("expert_3_12"), "expert");
  EXPECT_EQ(module_of("_7"), "*");
  EXPECT_EQ(module_of("conv2d"), "conv2d");
  EXPECT_EQ(module_of("layer3/x_"), "layer3/x_");
  EXPECT_EQ(module_of("a//b"), "a//b");
  EXPECT_EQ(module_of("model/{layers.0/norm, layers.1/norm, head}"), "model/{layers.*/norm, head}");
  EXPECT_EQ(module_of("x_\n1'<script>_2"), "x_\n1'<script>");
}

TEST(ScopePaths, StandOnceEach) {
  TraceBuilder made;
  made.scope("block_0", 0, 1);
  made.scope("block_0/a", 0, 1);
  made.scope("block_1/a", 0, 1);
  made.scope("block_0/a", 1, 2);
  made.scope("", 0, 0);
  const auto paths = scope_paths(made.trace);
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[0].depth, 1);
  EXPECT_EQ(paths[1].depth, 2);
  EXPECT_EQ(paths[1].module, paths[2].module);
}

TEST(KernelClasses, StandOnceForEachName) {
  TraceBuilder made;
  made.activity_at(0, 0, 0, 1, "nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNN");
  made.activity_at(0, 0, 1, 2, "nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNN");
  made.activity_at(0, 0, 2, 3, "array to array", ActivityKind::kMemcpy);
  made.activity_at(0, 0, 3, 4, "zero", ActivityKind::kMemset);
  made.activity_at(0, 0, 4, 5, "mystery");
  made.activity_at(0, 0, 5, 6, "");
  const auto classes = kernel_classes(made.trace, Classifier());
  ASSERT_EQ(classes.size(), 4u);
  EXPECT_EQ(classes[0].kernel_class, "matmul");
  EXPECT_EQ(classes[1].kernel_class, "copy");
  EXPECT_EQ(classes[2].kernel_class, "memset");
  EXPECT_EQ(classes[3].kernel_class, "other");
  EXPECT_EQ(classes[3].short_name, "mystery");
}

}  // namespace
}  // namespace kymo::analysis

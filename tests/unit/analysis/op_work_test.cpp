// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/operator_work.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::OpWork;
using event::WorkKind;

constexpr const char* kProduct = "f32[5, 7] f32[7, 11]";
constexpr double kProductFlops = 2 * 5 * 7 * 11;

class OpWorkTest : public testing::Test {
 protected:
  event::Operator& call(const std::string& name, const std::string& arguments, std::int64_t start_ns,
                        std::int64_t end_ns, std::int64_t parent = -1, std::int32_t step = 1, std::int32_t phase = 0) {
    last_ = made_.op(name, start_ns, end_ns, TraceBuilder::position(step, phase), parent);
    event::Operator& result = made_.trace.operators.back();
    if (!arguments.empty()) result.shapes = made_.trace.texts.intern(arguments);
    result.self_ns = end_ns - start_ns;
    if (parent >= 0) made_.trace.operators[static_cast<std::size_t>(parent)].self_ns -= end_ns - start_ns;
    return result;
  }
  void kernel(std::int64_t op, std::int64_t duration_ns, std::uint64_t graph_node = 0, std::uint32_t launch = 0,
              std::int32_t step = 1) {
    event::Activity& activity = made_.activity_at(step, 0, 0, duration_ns);
    activity.op = op;
    activity.graph_node = graph_node;
    activity.correlation_id = launch;
  }
  void captured(std::int64_t op, std::initializer_list<std::uint64_t> nodes) {
    for (const std::uint64_t node : nodes) {
      event::GraphNode added{node, {}};
      added.position.op = op;
      made_.trace.graph_nodes.push_back(added);
    }
  }
  std::vector<OpWork> totals(std::int64_t warmup = 1) {
    record_.trace = made_.trace;
    return op_work(record_, warmup).rows;
  }
  /// The only row of an operator.
  static OpWork only(const std::vector<OpWork>& rows, const event::Trace& trace, const std::string& name) {
    OpWork found;
    int count = 0;
    for (const OpWork& row : rows)
      if (trace.texts.text(row.name) == name && ++count == 1) found = row;
    EXPECT_EQ(count, 1) << name;
    return found;
  }
  OpWork only(const std::string& name, std::int64_t warmup = 1) {
    const auto rows = totals(warmup);
    return only(rows, record_.trace, name);
  }

  TraceBuilder made_;
  event::PassRecord record_;
  std::int64_t last_ = -1;
};

TEST_F(OpWorkTest, IsEmptyWithoutArguments) {
  call("aten::mm", "", 0, 10);
  EXPECT_TRUE(totals().empty());
}

TEST_F(OpWorkTest, SumsCallsOfMeasuredStepsByArgumentsAndPhase) {
  call("aten::mm", kProduct, 0, 10, -1, 0);  // warm-up
  call("aten::mm", kProduct, 10, 20);
  call("aten::mm", kProduct, 20, 35, -1, 2);
  call("aten::mm", kProduct, 40, 50, -1, 2, 1);
  call("aten::mm", "f32[5, 7] f32[7, 1]", 50, 60, -1, 2);
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].host_ns, 25);
  EXPECT_EQ(rows[0].steps, 2);
  EXPECT_EQ(rows[0].call.flops, kProductFlops) << "of one call";
  EXPECT_EQ(rows[1].phase, 1);
  EXPECT_EQ(rows[2].call.flops, 2 * 5 * 7);
}

TEST_F(OpWorkTest, CountsAtTheOutermostOperatorWithARule) {
  call("aten::linear", "f32[5, 7] f32[11, 7]", 0, 100);
  call("aten::addmm", "f32[11] f32[5, 7] f32[7, 11]", 10, 90, 0);
  call("aten::copy_", "f32[5, 11] f32[11]", 20, 40, 1);
  kernel(1, 30);
  kernel(2, 5);
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 2u) << "the copy belongs to addmm";
  const OpWork product = only(rows, record_.trace, "aten::addmm");
  EXPECT_EQ(product.host_ns, 80);
  EXPECT_EQ(product.kernels, 2);
  EXPECT_EQ(product.device_ns, 35);
  const OpWork outer = only(rows, record_.trace, "aten::linear");
  EXPECT_EQ(outer.call.kind, WorkKind::kOverhead);
  EXPECT_EQ(outer.host_ns, 20) << "without what it called";
  EXPECT_EQ(outer.arguments, event::kNoText);
}

TEST_F(OpWorkTest, TellsTheRowOfEachActivity) {
  call("aten::addmm", "f32[11] f32[5, 7] f32[7, 11]", 0, 50, -1, 0);  // warm-up
  call("aten::t", "f32[5, 7]", 50, 60);
  call("aten::addmm", "f32[11] f32[5, 7] f32[7, 11]", 60, 90);
  call("aten::copy_", "f32[5, 11] f32[11]", 70, 80, 2);
  kernel(0, 5, 0, 0, 0);
  kernel(3, 5);
  kernel(-1, 5);
  kernel(2, 30);
  record_.trace = made_.trace;
  EXPECT_EQ(op_work(record_, 1).row_of_activity, (std::vector<std::int64_t>{-1, 1, -1, 1}));
}

TEST_F(OpWorkTest, OperatorsWithoutARuleAreUnknownAndKeepTheirTime) {
  call("mylib::scale", "f32[5, 7]", 0, 100);
  call("aten::empty", "(5, 7)", 10, 20, 0);
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].call.kind, WorkKind::kUnknown);
  EXPECT_FALSE(rows[0].call.flops);
  EXPECT_EQ(rows[0].host_ns, 100);
}

TEST_F(OpWorkTest, OperatorsThatCallOthersAreOverheadUnlessTheyLaunchWorkThemselves) {
  call("mylib::block", "f32[5, 7]", 0, 100);
  call("aten::mm", kProduct, 10, 90, 0);
  EXPECT_EQ(only("mylib::block").call.kind, WorkKind::kOverhead);
  kernel(0, 50);
  const OpWork block = only("mylib::block");
  EXPECT_EQ(block.call.kind, WorkKind::kUnknown);
  EXPECT_EQ(block.device_ns, 50);
}

TEST_F(OpWorkTest, BackwardNodesAndViewsAreOverhead) {
  call("MmBackward0", "", 0, 100).backward = true;
  call("aten::mm", kProduct, 10, 60, 0);
  call("aten::t", "f32[5, 7]", 60, 70, 0);
  call("MmBackward0", "", 100, 110).backward = true;  // nothing below it
  const auto rows = totals();
  EXPECT_EQ(only(rows, record_.trace, "MmBackward0").host_ns, 40 + 10);
  EXPECT_EQ(only(rows, record_.trace, "MmBackward0").call.kind, WorkKind::kOverhead);
  EXPECT_EQ(only(rows, record_.trace, "aten::t").call.kind, WorkKind::kOverhead);
  std::int64_t sum = 0;
  for (const OpWork& row : rows) sum += row.host_ns;
  EXPECT_EQ(sum, 110) << "every part of the time is in one row";
}

TEST_F(OpWorkTest, TruncatedArgumentsMakeTheWorkUnknown) {
  call("aten::mm", "f32[5, 7] ...", 0, 10);
  EXPECT_EQ(only("aten::mm").call.kind, WorkKind::kUnknown);
}

TEST_F(OpWorkTest, DeclarationsTakePrecedence) {
  record_.declared_op_work = {{"mylib::scale", "f32[7]", 70, 700}, {"mylib::scale", "", 1, 2}, {"aten::mm", "", 5, 6}};
  call("mylib::scale", "f32[7]", 0, 10);
  call("mylib::scale", "f32[8]", 10, 20);
  call("aten::mm", kProduct, 20, 30);
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].call.kind, WorkKind::kDeclared);
  EXPECT_EQ(rows[0].call.flops, 70);
  EXPECT_EQ(rows[0].call.bytes, 700);
  EXPECT_EQ(rows[1].call.flops, 1);
  EXPECT_EQ(rows[2].call.flops, 5);
}

TEST_F(OpWorkTest, TheWorkOfLibrariesPrecedesRules) {
  call("mylib::scale", "f32[7]", 0, 10);
  call("mylib::scale", "f32[8]", 10, 20);
  call("aten::mm", kProduct, 20, 30);
  event::Texts& texts = made_.trace.texts;
  const event::CallWork work{WorkKind::kElementwise, "f32", 7, 7, 7, 56};
  record_.library_op_work = {{texts.intern("mylib::scale"), texts.intern("f32[7]"), work},
                             {texts.intern("aten::mm"), texts.intern(kProduct), work}};
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].call.kind, WorkKind::kElementwise);
  EXPECT_EQ(rows[0].call.bytes, 56);
  EXPECT_EQ(rows[1].call.kind, WorkKind::kUnknown);
  EXPECT_EQ(rows[2].call.flops, 7);
  record_.declared_op_work = {{"mylib::scale", "", 1, 2}};
  EXPECT_EQ(totals()[0].call.kind, WorkKind::kDeclared);
}

TEST_F(OpWorkTest, RecomputedOperatorsAreNoWorkOfTheModel) {
  event::Operator& again = call("aten::mm", kProduct, 0, 10, -1, 1, 1);
  again.position.node = {3, 1};
  again.sequence = 17;  // gradients are enabled: an operator of the forward pass
  event::Operator& gradient = call("aten::mm", kProduct, 10, 20, -1, 1, 1);
  gradient.position.node = {3, 1};
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].recomputed);
  EXPECT_EQ(rows[0].call.flops, kProductFlops);
  EXPECT_EQ(rows[0].call.model_flops, 0);
  EXPECT_EQ(rows[0].call.masked_model_flops, 0);
  EXPECT_FALSE(rows[1].recomputed);
  EXPECT_EQ(rows[1].call.model_flops, kProductFlops);
}

TEST_F(OpWorkTest, CapturedOperatorsCountOncePerReplay) {
  call("aten::mm", kProduct, 0, 10, -1, 0);             // captured in the warm-up step
  call("aten::copy_", "f32[5] f32[5]", 10, 20, -1, 0);  // captured, but part of no replayed kernel
  captured(0, {7, 8});
  for (const std::uint32_t launch : {21u, 22u}) {
    kernel(0, 100, 7, launch, 1);
    kernel(0, 50, 8, launch, 1);
  }
  kernel(0, 100, 7, 20, 0);  // the replay of the warm-up step
  const auto rows = totals();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].kernels, 4);
  EXPECT_EQ(rows[0].device_ns, 300);
  EXPECT_EQ(rows[0].host_ns, 0);
  EXPECT_EQ(rows[0].steps, 1);
}

TEST_F(OpWorkTest, CapturingInAMeasuredStepExecutesNothing) {
  call("aten::linear", "f32[2, 3] f32[4, 3]", 0, 30);
  call("aten::mm", kProduct, 5, 10, 0);
  captured(1, {7});
  kernel(1, 100, 7, 21, 1);
  kernel(1, 100, 7, 22, 2);
  const OpWork product = only("aten::mm");
  EXPECT_EQ(product.calls, 2);
  EXPECT_EQ(product.kernels, 2);
  EXPECT_EQ(product.host_ns, 0);
}

}  // namespace
}  // namespace kymo::analysis

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/derive.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::StepActivity;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostActivity : public ::testing::Test {
 protected:
  void step(std::int64_t number, std::int64_t start_ns, std::int64_t end_ns) {
    event::Sample sample;
    sample.step = number;
    sample.phase = event::kWholeStep;
    sample.start_ns = start_ns;
    sample.host_ns = end_ns - start_ns;
    record_.samples.push_back(sample);
    sample.phase = "forward";
    record_.samples.push_back(sample);
  }
  void phase(std::int32_t step, std::int32_t number, std::int64_t start_ns) {
    event::Range range;
    range.is_phase = true;
    range.step = step;
    range.phase = number;
    range.start_ns = start_ns;
    made_.trace.ranges.push_back(range);
  }
  std::int64_t op(const std::string& name, std::int64_t start_ns, std::int64_t end_ns, std::uint32_t thread = 0,
                  std::int64_t parent = -1) {
    event::Position position = TraceBuilder::position(0, 0);
    position.thread = thread;
    return made_.op(name, start_ns, end_ns, position, parent);
  }
  void collective(std::int64_t start_ns, std::int64_t end_ns, bool on_device = false) {
    event::Collective call;
    call.enqueue_ns = start_ns;
    call.returned_ns = end_ns;
    call.on_device = on_device;
    made_.trace.collectives.push_back(call);
  }
  std::vector<StepActivity> rows() {
    record_.trace = made_.trace;
    derive(record_, {.warmup = 1, .on_host = true});
    return record_.derived.step_activity;
  }
  static void expect_parts_sum_up(const StepActivity& row) {
    EXPECT_EQ(row.end_ns - row.start_ns, row.compute_ns + row.comm_ns - row.overlap_ns + row.idle_ns) << row.phase;
    EXPECT_EQ(row.exposed_comm_ns, row.comm_ns - row.overlap_ns);
    EXPECT_EQ(row.kernels + row.kernel_ns + row.copy_ns + row.exposed_copy_ns, 0);
  }

  TraceBuilder made_;
  event::PassRecord record_;
};

TEST_F(HostActivity, WithoutOperatorsThereIsNothingToSay) {
  step(0, 0, 100);
  collective(10, 20);
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HostActivity, TellsComputeCommunicationAndTheirOverlapApart) {
  step(0, 100, 200);
  phase(0, 0, 100);
  phase(0, 1, 140);
  const std::int64_t outer = op("aten::linear", 100, 120);
  op("aten::addmm", 105, 118, 0, outer);
  op("aten::mul", 130, 150);
  op("aten::mm", 145, 160, 1);
  collective(150, 180);
  collective(170, 190);
  collective(0, 500, true);  // on a device: no host activity
  collective(195, -1);       // never ended
  const auto all = rows();
  ASSERT_THAT(all, SizeIs(3));
  const StepActivity& whole = all[0];
  EXPECT_EQ(whole.phase, "step");
  EXPECT_TRUE(whole.warmup);
  EXPECT_EQ(whole.start_ns, 100);
  EXPECT_EQ(whole.end_ns, 200);
  EXPECT_EQ(whole.compute_ns, 20 + 30);
  EXPECT_EQ(whole.comm_ns, 40);
  EXPECT_EQ(whole.overlap_ns, 10);
  EXPECT_EQ(whole.exposed_comm_ns, 30);
  EXPECT_EQ(whole.idle_ns, 20);
  EXPECT_EQ(whole.gaps, 2);
  EXPECT_EQ(all[1].phase, "forward");
  EXPECT_EQ(all[1].end_ns, 140);
  EXPECT_EQ(all[1].compute_ns, 30);
  EXPECT_EQ(all[1].comm_ns, 0);
  EXPECT_EQ(all[2].phase, "backward");
  EXPECT_EQ(all[2].compute_ns, 20);
  EXPECT_EQ(all[2].comm_ns, 40);
  EXPECT_EQ(all[1].compute_ns + all[2].compute_ns, whole.compute_ns);
  for (const StepActivity& row : all) expect_parts_sum_up(row);
}

TEST_F(HostActivity, WhatCommunicatesDoesNotCompute) {
  step(1, 0, 100);
  const std::int64_t hook = op("torch::autograd::AccumulateGrad", 10, 60);
  op("c10d::allreduce_", 20, 50, 0, hook);
  op("gloo:all_reduce", 0, 90, 3);
  op("nccl:_all_gather_base", 0, 90, 4);
  const auto all = rows();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].compute_ns, 20);
  EXPECT_EQ(all[0].idle_ns, 80);
  EXPECT_FALSE(all[0].warmup);
  EXPECT_EQ(all[1].phase, "other") << "no phase was begun";
}

TEST_F(HostActivity, BeforeTheFirstPhaseIsOtherOnlyIfSomethingRan) {
  step(0, 0, 100);
  step(1, 200, 300);
  phase(0, 0, 30);
  phase(1, 0, 230);
  phase(1, 1, 260);
  phase(1, 0, 280);  // again, for 20
  op("aten::mm", 10, 40);
  op("aten::mm", 240, 270);
  const auto all = rows();
  ASSERT_THAT(all, SizeIs(6));
  EXPECT_EQ(all[1].phase, "other");
  EXPECT_EQ(all[1].compute_ns, 20);
  EXPECT_EQ(all[2].phase, "forward");
  EXPECT_EQ(all[2].start_ns, 30);
  EXPECT_EQ(all[4].phase, "forward");
  EXPECT_EQ(all[4].start_ns, 200);
  EXPECT_EQ(all[4].end_ns, 200 + (260 - 200) + (300 - 280));
  EXPECT_EQ(all[5].phase, "backward");
  EXPECT_EQ(all[5].end_ns, 280);
  for (const StepActivity& row : all) expect_parts_sum_up(row);
}

TEST_F(HostActivity, APhaseThatBeginsAtTheSameTimeAsTheNextOneIsEmpty) {
  step(0, 0, 100);
  phase(0, 1, 0);
  phase(0, 0, 0);  // declared first, runs second
  op("aten::mm", 10, 40);
  const auto all = rows();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[1].phase, "backward");
  EXPECT_EQ(all[1].end_ns, 0);
  EXPECT_EQ(all[1].compute_ns, 0);
  EXPECT_EQ(all[2].phase, "forward");
  EXPECT_EQ(all[2].start_ns, 0);
  EXPECT_EQ(all[2].end_ns, 100);
  EXPECT_EQ(all[2].compute_ns, 30);
  for (const StepActivity& row : all) expect_parts_sum_up(row);
}

TEST_F(HostActivity, AStepThatLastsNoTimeHasEmptyPhases) {
  step(0, 50, 50);
  phase(0, 0, 50);
  phase(0, 1, 50);
  op("aten::mm", 10, 90);
  const auto all = rows();
  ASSERT_THAT(all, SizeIs(3));
  for (const StepActivity& row : all) {
    EXPECT_EQ(row.end_ns, row.start_ns);
    EXPECT_EQ(row.compute_ns + row.idle_ns, 0) << row.phase;
  }
}

TEST_F(HostActivity, OperatorsThatReachOutOfTheStepAreClipped) {
  step(0, 100, 200);
  phase(0, 0, 100);
  op("aten::mm", 50, 120);
  op("aten::mm", 190, 400);
  collective(0, 1'000);
  const auto all = rows();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].compute_ns, 30);
  EXPECT_EQ(all[0].comm_ns, 100);
  EXPECT_EQ(all[0].exposed_comm_ns, 70);
  EXPECT_EQ(all[0].idle_ns, 0);
}

TEST_F(HostActivity, OnAGpuOperatorsAreNoWork) {
  step(0, 0, 100);
  op("aten::mm", 10, 40);
  record_.trace = made_.trace;
  derive(record_, {.warmup = 0});
  EXPECT_THAT(record_.derived.step_activity, IsEmpty());
}

}  // namespace
}  // namespace kymo::analysis

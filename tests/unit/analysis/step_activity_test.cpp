// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/derive.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::ActivityKind;

std::vector<event::StepActivity> rows_of(const TraceBuilder& made, std::int64_t warmup = 0) {
  std::vector<bool> communicates(made.trace.texts.size() + 1, false);
  for (event::TextId id = 1; id <= made.trace.texts.size(); ++id)
    communicates[id] = made.text(id).rfind("nccl", 0) == 0;
  return step_activity(made.trace, communicates, warmup);
}

void expect_parts_sum_up(const event::StepActivity& row) {
  EXPECT_EQ(row.end_ns - row.start_ns,
            row.compute_ns + row.comm_ns - row.overlap_ns + row.exposed_copy_ns + row.idle_ns)
      << row.phase;
  EXPECT_LE(row.exposed_comm_ns, row.comm_ns - row.overlap_ns);
  EXPECT_LE(row.exposed_copy_ns, row.copy_ns);
  EXPECT_LE(row.longest_gap_ns, row.idle_ns);
  EXPECT_EQ(row.gaps == 0, row.idle_ns == 0);
}

TEST(StepActivity, OfNothingIsNothing) {
  EXPECT_TRUE(rows_of(TraceBuilder()).empty());
  TraceBuilder outside;
  outside.activity_at(-1, -1, 0, 10);
  EXPECT_TRUE(rows_of(outside).empty());
}

TEST(StepActivity, TellsComputeCommunicationCopiesAndGapsApart) {
  TraceBuilder made;
  made.activity_at(2, 0, 0, 10);
  made.activity_at(2, 0, 12, 20);
  made.activity_at(2, 1, 15, 30, "ncclDevKernel_AllReduce");
  made.activity_at(2, 1, 25, 35, "memcpy host to device", ActivityKind::kMemcpy);
  made.activity_at(2, 2, 40, 50);
  const auto rows = rows_of(made, 3);
  ASSERT_EQ(rows.size(), 4u);
  const auto& step = rows[0];
  EXPECT_EQ(step.phase, "step");
  EXPECT_TRUE(step.warmup);
  EXPECT_EQ(step.start_ns, 0);
  EXPECT_EQ(step.end_ns, 50);
  EXPECT_EQ(step.kernels, 5);
  EXPECT_EQ(step.kernel_ns, 10 + 8 + 15 + 10);
  EXPECT_EQ(step.compute_ns, 28);
  EXPECT_EQ(step.comm_ns, 15);
  EXPECT_EQ(step.overlap_ns, 5);
  EXPECT_EQ(step.exposed_comm_ns, 5);  // 20 to 25; a copy runs as well afterwards
  EXPECT_EQ(step.copy_ns, 10);
  EXPECT_EQ(step.exposed_copy_ns, 5);
  EXPECT_EQ(step.idle_ns, 7);
  EXPECT_EQ(step.gaps, 2);
  EXPECT_EQ(step.longest_gap_ns, 5);
  EXPECT_EQ(rows[1].phase, "forward");
  EXPECT_EQ(rows[1].end_ns, 15);
  EXPECT_EQ(rows[1].compute_ns, 13);  // the second kernel continues into the next phase
  EXPECT_EQ(rows[2].phase, "backward");
  EXPECT_EQ(rows[2].end_ns, 40);
  EXPECT_EQ(rows[2].compute_ns, 5);
  EXPECT_EQ(rows[3].phase, "optimizer");
  for (const auto& row : rows) expect_parts_sum_up(row);
}

TEST(StepActivity, WorkOfOtherStepsCountsWhereItRan) {
  TraceBuilder made;
  made.activity_at(0, 0, 0, 100);
  made.activity_at(1, 0, 90, 200);
  const auto rows = rows_of(made);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].end_ns, 100);
  EXPECT_EQ(rows[0].kernels, 2);
  EXPECT_EQ(rows[2].start_ns, 90);
  EXPECT_EQ(rows[2].kernels, 1);
  EXPECT_EQ(rows[2].compute_ns, 110);
}

TEST(StepActivity, PhasesWithoutActivityDoNotOccurAndOtherDoesOnlyIfNeeded) {
  TraceBuilder made;
  made.activity_at(0, -1, 0, 5);
  made.activity_at(0, 2, 10, 20);
  const auto rows = rows_of(made);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].phase, "other");
  EXPECT_EQ(rows[1].idle_ns, 5);
  EXPECT_EQ(rows[2].phase, "optimizer");
}

TEST(StepActivity, WhatLastsNoTimeStillCounts) {
  TraceBuilder made;
  made.activity_at(0, 0, 0, 10);
  made.activity_at(0, 1, 10, 10);
  made.activity_at(1, 0, 30, 30);
  const auto rows = rows_of(made);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].kernels, 2);
  EXPECT_EQ(rows[1].kernels, 1);
  EXPECT_EQ(rows[2].kernels, 1);
  EXPECT_EQ(rows[2].start_ns, rows[2].end_ns);
  EXPECT_EQ(rows[3].kernels, 1);
  for (const auto& row : rows) expect_parts_sum_up(row);
}

/// Host phases of a step, one after the other.
void enter(TraceBuilder& made, std::int32_t step, const std::vector<std::int32_t>& phases) {
  for (const std::int32_t phase : phases) {
    event::Range& range = made.trace.ranges.emplace_back();
    range.is_phase = true;
    range.step = step;
    range.phase = phase;
  }
}

TEST(StepActivity, APhaseThatIsEnteredAgainHasSeveralIntervals) {
  TraceBuilder made;
  enter(made, 0, {0, 1, 2, 1});
  made.activity_at(0, 0, 0, 10);
  made.activity_at(0, 1, 10, 20);
  made.activity_at(0, 2, 24, 30);
  made.activity_at(0, 1, 30, 50);
  made.activity_at(0, 0, 60, 70);  // on another stream: its phase is not entered again
  const auto rows = rows_of(made);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].phase, "backward");
  EXPECT_EQ(rows[2].start_ns, 10);
  EXPECT_EQ(rows[2].end_ns - rows[2].start_ns, (24 - 10) + (70 - 30));
  EXPECT_EQ(rows[2].compute_ns, 10 + 20 + 10);
  EXPECT_EQ(rows[2].idle_ns, 4 + 10);
  EXPECT_EQ(rows[2].gaps, 2);
  EXPECT_EQ(rows[2].longest_gap_ns, 10);
  EXPECT_EQ(rows[2].kernels, 3);
  EXPECT_EQ(rows[3].compute_ns, 6);
  for (const auto& row : rows) expect_parts_sum_up(row);
}

TEST(StepActivity, PartsSumToTheSpanAndPhasesTileTheStepForAnyActivity) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    TraceBuilder made;
    if (round % 2 == 0) enter(made, 0, {0, 1, 2, 1, 0});
    std::int64_t time = -100;
    for (int i = 0; i < 60; ++i) {
      time += static_cast<std::int64_t>(random() % 20);
      const std::int64_t end = time + static_cast<std::int64_t>(random() % 40) - 3;
      const auto kind = static_cast<ActivityKind>(random() % 3);
      made.activity_at(static_cast<std::int32_t>(random() % 3) + i / 20 - 1,
                       static_cast<std::int32_t>(random() % 4) - 1, time, end, random() % 3 == 0 ? "nccl" : "kernel",
                       kind);
    }
    std::map<std::int64_t, event::StepActivity> steps, sums;
    for (const auto& row : rows_of(made)) {
      expect_parts_sum_up(row);
      if (row.phase == "step") {
        steps[row.step] = row;
        continue;
      }
      auto& sum = sums[row.step];
      sum.idle_ns += row.idle_ns;
      sum.compute_ns += row.compute_ns;
      sum.exposed_comm_ns += row.exposed_comm_ns;
      sum.end_ns += row.end_ns - row.start_ns;
    }
    ASSERT_EQ(steps.size(), sums.size());
    for (const auto& [number, step] : steps) {
      EXPECT_EQ(sums[number].end_ns, step.end_ns - step.start_ns);
      EXPECT_EQ(sums[number].idle_ns, step.idle_ns);
      EXPECT_EQ(sums[number].compute_ns, step.compute_ns);
      EXPECT_EQ(sums[number].exposed_comm_ns, step.exposed_comm_ns);
    }
  }
}

}  // namespace
}  // namespace kymo::analysis

// SPDX-License-Identifier: Apache-2.0
#include "analysis/derive.hpp"

#include <gtest/gtest.h>

#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

TEST(Derive, OfAnEmptyRecordIsNothing) {
  event::PassRecord record;
  derive(record, {});
  EXPECT_TRUE(record.dropped_records.empty());
  EXPECT_TRUE(record.derived.kernel_totals.empty());
  EXPECT_TRUE(record.derived.step_activity.empty());
}

TEST(Derive, PutsAllTogether) {
  TraceBuilder made;
  const auto scope = made.scope("block_0", 0, 10);
  for (std::uint32_t step = 0; step < 3; ++step) {
    const auto number = static_cast<std::int32_t>(step);
    made.launch(3 * step, 1000 * step, TraceBuilder::position(number, 0, scope));
    made.launch(3 * step + 1, 1000 * step + 1, TraceBuilder::position(number, 1, -1, {5, 1}));
    made.activity(3 * step + 1, 1000 * step + 300, 1000 * step + 400,
                  "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    made.activity(3 * step, 1000 * step + 100, 1000 * step + 250, "ampere_sgemm_128x64_tn");
  }
  made.activity(77, 5000, 5001);
  event::PassRecord record;
  record.trace = made.trace;
  record.dropped_records.push_back({"cuda", 2, "before"});
  derive(record, {.warmup = 1});
  EXPECT_EQ(record.dropped_records.size(), 2u);
  EXPECT_EQ(lost(record.dropped_records, "without a launch"), 1);
  const auto& derived = record.derived;
  ASSERT_EQ(derived.kernel_totals.size(), 2u);
  EXPECT_EQ(derived.kernel_totals[0].calls, 2);
  EXPECT_EQ(derived.kernel_totals[0].steps, 2);
  EXPECT_EQ(derived.kernel_classes.size(), 3u);
  EXPECT_EQ(derived.scope_paths.size(), 1u);
  ASSERT_EQ(derived.step_activity.size(), 9u);
  EXPECT_EQ(derived.step_activity[0].comm_ns, 100);
  EXPECT_EQ(derived.step_activity[0].exposed_comm_ns, 100);
  EXPECT_EQ(derived.step_activity[0].compute_ns, 150);
  EXPECT_TRUE(derived.step_activity[0].warmup);
  EXPECT_FALSE(derived.step_activity[3].warmup);
}

}  // namespace
}  // namespace kymo::analysis

// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/new_activities.hpp"

#include <gtest/gtest.h>

#include "unit/collect/cuda/raw_records.hpp"

namespace kymo::collect {
namespace {

// The other clock is 1000 ahead of the host clock; the run began at 500.
const ClockConversion kClock(ClockPair{0, 1000, 0});
constexpr std::int64_t kRunStart = 500;

TEST(NewActivities, AreThoseOfTheBuffersSinceTheLastTime) {
  NewActivities activities;
  event::NewEvents events;
  const event::TextId other = events.texts.intern("another event");
  RawRecords first;
  first.add(raw_kernel("gemm", 2000, 2300, 42)).add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2400, 2500, 64));
  activities.read(first.buffer(), first.bytes());
  activities.add_new(events, kClock, kRunStart);
  ASSERT_EQ(events.activities.size(), 2u);
  EXPECT_EQ(events.activities[0].start_ns, 500);
  EXPECT_EQ(events.activities[0].end_ns, 800);
  EXPECT_EQ(events.activities[0].correlation_id, 42u);
  EXPECT_EQ(events.texts.text(events.activities[0].name), "gemm");
  EXPECT_NE(events.activities[0].name, other);
  EXPECT_EQ(events.activities[1].bytes, 64);
  events.clear();
  activities.add_new(events, kClock, kRunStart);
  EXPECT_TRUE(events.activities.empty());

  auto wide = raw_kernel("softmax", 3000, 3100);
  wide.gridX = 9;
  RawRecords second;
  second.add(wide).add(raw_kernel("gemm", 3200, 3300));
  activities.read(second.buffer(), second.bytes());
  activities.add_new(events, kClock, kRunStart);
  ASSERT_EQ(events.activities.size(), 2u);
  EXPECT_EQ(events.texts.text(events.activities[0].name), "softmax");
  EXPECT_EQ(events.texts.text(events.activities[1].name), "gemm");
  ASSERT_EQ(events.shapes.size(), 2u);
  EXPECT_EQ(events.shapes[events.activities[0].shape].grid[0], 9);
  EXPECT_EQ(events.shapes[events.activities[1].shape].grid[0], 1);
}

TEST(NewActivities, ContainCallsWaitsAndOverhead) {
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.start = 2000;
  call.end = 2010;
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = 2020;
  wait.end = 2030;
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.start = 2040;
  overhead.end = 2050;
  RawRecords records;
  records.add(call).add(wait).add(overhead);
  NewActivities activities;
  activities.read(records.buffer(), records.bytes());
  event::NewEvents events;
  activities.add_new(events, kClock, kRunStart);
  ASSERT_EQ(events.api_calls.size(), 1u);
  EXPECT_EQ(events.texts.text(events.api_calls[0].name).substr(0, 16), "cudaLaunchKernel");
  EXPECT_EQ(events.api_calls[0].end_ns, 510);
  ASSERT_EQ(events.synchronizations.size(), 1u);
  EXPECT_EQ(events.synchronizations[0].kind, "stream");
  EXPECT_EQ(events.synchronizations[0].start_ns, 520);
  ASSERT_EQ(events.overhead_records.size(), 1u);
  EXPECT_EQ(events.overhead_records[0].kind, "buffer flush");
  EXPECT_EQ(events.overhead_records[0].end_ns, 550);
}

}  // namespace
}  // namespace kymo::collect

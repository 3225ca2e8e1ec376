// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/activity_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "unit/collect/cuda/raw_records.hpp"

namespace kymo::collect {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ActivityParserTest : public testing::Test {
 protected:
  void parse(RawRecords& records) { parser_.parse(records.buffer(), records.bytes()); }
  const std::string& name(event::TextId id) const { return trace_.texts.text(id); }
  const std::string& name_of(std::size_t activity) const { return name(trace_.activities.at(activity).name); }

  event::Trace trace_;
  // The other clock is 1000 ahead of the host clock; the run began at 500.
  ActivityParser parser_{ClockConversion(ClockPair{0, 1000, 0}), 500, trace_};
};

TEST_F(ActivityParserTest, AKernelHasItsTimesNameAndShape) {
  auto kernel = raw_kernel("_ZN2ab6kernelIfEEvPT_", 2000, 2300, 42);
  kernel.gridX = 10;
  kernel.gridY = 2;
  kernel.blockX = 256;
  kernel.staticSharedMemory = 1024;
  kernel.dynamicSharedMemory = 4096;
  kernel.registersPerThread = 128;
  RawRecords records;
  parse(records.add(kernel));
  ASSERT_THAT(trace_.activities, SizeIs(1));
  const event::Activity& activity = trace_.activities[0];
  EXPECT_EQ(activity.kind, event::ActivityKind::kKernel);
  EXPECT_EQ(activity.start_ns, 500) << "2000 - 1000 on the host, 500 into the run";
  EXPECT_EQ(activity.end_ns, 800);
  EXPECT_EQ(activity.correlation_id, 42u);
  EXPECT_EQ(activity.stream, 7u);
  EXPECT_EQ(activity.graph_node, 0u);
  EXPECT_EQ(name_of(0), "void ab::kernel<float>(float*)");
  ASSERT_THAT(trace_.shapes, SizeIs(1));
  EXPECT_EQ(trace_.shapes[0], (event::LaunchShape{{10, 2, 1}, {256, 1, 1}, 1024, 4096, 128}));
  EXPECT_THAT(parser_.dropped_records(), IsEmpty());
}

TEST_F(ActivityParserTest, NamesThatAreNotMangledStay) {
  const std::string hostile = "k\n<script>'\"=cmd\\input";
  RawRecords records;
  records.add(raw_kernel("f", 2000, 2001))
      .add(raw_kernel(hostile.c_str(), 2002, 2003))
      .add(raw_kernel(nullptr, 2004, 2005));
  records.add(raw_kernel("", 2006, 2007)).add(raw_kernel("_Zbroken", 2008, 2009));
  parse(records);
  ASSERT_THAT(trace_.activities, SizeIs(5));
  EXPECT_EQ(name_of(0), "f") << "no type float";
  EXPECT_EQ(name_of(1), hostile);
  EXPECT_EQ(name_of(2), "unnamed kernel");
  EXPECT_EQ(name_of(3), "unnamed kernel");
  EXPECT_EQ(name_of(4), "_Zbroken");
}

TEST_F(ActivityParserTest, EqualNamesAndShapesAreStoredOnce) {
  const std::string same(1, 'k');
  const std::string again(1, 'k');
  RawRecords records;
  for (int i = 0; i < 100; ++i) {
    auto kernel = raw_kernel(i % 2 ? same.c_str() : again.c_str(), 2000, 2001);
    kernel.gridX = i % 3;
    records.add(kernel);
  }
  parse(records);
  EXPECT_EQ(trace_.texts.size(), 1u);
  EXPECT_THAT(trace_.shapes, SizeIs(3));
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(trace_.shapes[trace_.activities[i].shape].grid[0], static_cast<std::int32_t>(i % 3));
  }
}

TEST_F(ActivityParserTest, ShapesOfAnEarlierBufferAreFoundAgain) {
  RawRecords first;
  parse(first.add(raw_kernel("k", 2000, 2001)));
  ActivityParser next(ClockConversion(), 0, trace_);
  next.parse(first.buffer(), first.bytes());
  EXPECT_THAT(trace_.shapes, SizeIs(1));
  EXPECT_EQ(trace_.activities[1].shape, 0u);
}

TEST_F(ActivityParserTest, CopiesAreNamedByTheirDirection) {
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer.start = 5000;
  peer.end = 5001;
  peer.bytes = 9;
  RawRecords records;
  records.add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2000, 2100, 4096))
      .add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 2200, 2300, 1));
  records.add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 2400, 2500, 0))
      .add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN, 2600, 2700, 5));
  parse(records.add(peer));
  ASSERT_THAT(trace_.activities, SizeIs(5));
  EXPECT_EQ(name_of(0), "memcpy host to device");
  EXPECT_EQ(name_of(1), "memcpy device to host");
  EXPECT_EQ(name_of(2), "memcpy device to device");
  EXPECT_EQ(name_of(3), "memcpy");
  EXPECT_EQ(name_of(4), "memcpy peer to peer");
  EXPECT_EQ(trace_.activities[0].kind, event::ActivityKind::kMemcpy);
  EXPECT_EQ(trace_.activities[0].bytes, 4096);
  EXPECT_EQ(trace_.activities[0].stream, 13u);
  EXPECT_EQ(trace_.activities[0].correlation_id, 2u);
  EXPECT_THAT(trace_.shapes, IsEmpty());
}

TEST_F(ActivityParserTest, MemsetsAndNodesOfGraphs) {
  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.start = 2000;
  memset.end = 2010;
  memset.bytes = 128;
  memset.graphNodeId = 77;
  auto kernel = raw_kernel("k", 2020, 2030);
  kernel.graphNodeId = (std::uint64_t{1} << 40) + 5;
  RawRecords records;
  parse(records.add(memset).add(kernel));
  ASSERT_THAT(trace_.activities, SizeIs(2));
  EXPECT_EQ(trace_.activities[0].kind, event::ActivityKind::kMemset);
  EXPECT_EQ(name_of(0), "memset");
  EXPECT_EQ(trace_.activities[0].bytes, 128);
  EXPECT_EQ(trace_.activities[0].graph_node, 77u);
  EXPECT_EQ(trace_.activities[1].graph_node, (std::uint64_t{1} << 40) + 5);
}

TEST_F(ActivityParserTest, OddTimesAreKeptAsTheyCome) {
  RawRecords records;
  records.add(raw_kernel("late", 9000, 9100)).add(raw_kernel("early", 1200, 1300));
  records.add(raw_kernel("instant", 5000, 5000)).add(raw_kernel("backwards", 6000, 5900));
  parse(records);
  ASSERT_THAT(trace_.activities, SizeIs(4)) << "judging them is for whoever knows the launches";
  EXPECT_EQ(trace_.activities[1].start_ns, -300) << "before the run began";
  EXPECT_EQ(trace_.activities[2].end_ns - trace_.activities[2].start_ns, 0);
  EXPECT_EQ(trace_.activities[3].end_ns - trace_.activities[3].start_ns, -100);
  EXPECT_THAT(parser_.dropped_records(), IsEmpty());
}

TEST_F(ActivityParserTest, IncompleteRecordsAreLeftOutAndCounted) {
  RawRecords records;
  records.add(raw_kernel("begun", 2000, 0)).add(raw_kernel("queued", 0, 0)).add(raw_kernel("done", 2000, 2100));
  records.add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 0, 0, 1));
  parse(records);
  ASSERT_THAT(trace_.activities, SizeIs(1));
  EXPECT_EQ(name_of(0), "done");
  ASSERT_THAT(parser_.dropped_records(), SizeIs(1));
  EXPECT_EQ(parser_.dropped_records()[0].count, 3);
  EXPECT_THAT(parser_.dropped_records()[0].detail, HasSubstr("without times"));
}

TEST_F(ActivityParserTest, KindsThatNobodyAskedForAreSteppedOver) {
  CUpti_ActivityExternalCorrelation other{};
  other.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  RawRecords records;
  parse(records.add(raw_kernel("a", 2000, 2001)).add(other).add(raw_kernel("b", 2002, 2003)));
  EXPECT_THAT(trace_.activities, SizeIs(2));
  ASSERT_THAT(parser_.dropped_records(), SizeIs(1));
  EXPECT_EQ(parser_.dropped_records()[0].count, 1);
}

TEST_F(ActivityParserTest, AnUnknownKindEndsItsBufferAlone) {
  const auto kernel_bytes = static_cast<std::int64_t>(record_size(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  auto strange = raw_kernel("?", 1, 2);
  strange.kind = static_cast<CUpti_ActivityKind>(4711);
  RawRecords broken;
  broken.add(raw_kernel("a", 2000, 2001)).add(strange).add(raw_kernel("unreachable", 2002, 2003));
  RawRecords sound;
  sound.add(raw_kernel("b", 2004, 2005));
  parse(broken);
  parse(sound);
  ASSERT_THAT(trace_.activities, SizeIs(2));
  EXPECT_EQ(name_of(1), "b");
  ASSERT_THAT(parser_.dropped_records(), SizeIs(1));
  EXPECT_EQ(parser_.dropped_records()[0].count, -1) << "how many records that is, nobody knows";
  EXPECT_THAT(parser_.dropped_records()[0].detail,
              HasSubstr(format_bytes(2 * kernel_bytes) + " at the end of 1 buffer"));
}

TEST_F(ActivityParserTest, ATruncatedBufferKeepsItsWholeRecords) {
  const std::size_t kernel_bytes = record_size(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  for (const std::size_t cut : {std::size_t{1}, kernel_bytes - 4, kernel_bytes - 1}) {
    event::Trace trace;
    ActivityParser parser(ClockConversion(), 0, trace);
    RawRecords records;
    records.add(raw_kernel("a", 2000, 2001)).add(raw_kernel("b", 2002, 2003)).cut(cut);
    parser.parse(records.buffer(), records.bytes());
    EXPECT_THAT(trace.activities, SizeIs(1)) << cut;
    ASSERT_THAT(parser.dropped_records(), SizeIs(1)) << cut;
    EXPECT_EQ(parser.dropped_records()[0].count, -1);
  }
}

TEST_F(ActivityParserTest, BuffersOfNothing) {
  RawRecords tiny;
  tiny.add(raw_kernel("a", 2000, 2001)).cut(record_size(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) - 2);
  parser_.parse(tiny.buffer(), 0);
  EXPECT_THAT(parser_.dropped_records(), IsEmpty());
  parse(tiny);
  EXPECT_THAT(trace_.activities, IsEmpty());
  EXPECT_THAT(parser_.dropped_records(), SizeIs(1)) << "two bytes are no record";
}

TEST_F(ActivityParserTest, ZeroesAreNoRecords) {
  RawRecords records;
  records.add(raw_kernel("a", 2000, 2001)).add(CUpti_ActivityKernel10{});
  parse(records);
  EXPECT_THAT(trace_.activities, SizeIs(1));
  EXPECT_THAT(parser_.dropped_records(), SizeIs(1));
}

TEST_F(ActivityParserTest, CallsHaveTheirNamesWithoutVersion) {
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.start = 2000;
  call.end = 2600;
  call.threadId = 1234;
  call.correlationId = 9;
  CUpti_ActivityAPI driver = call;
  driver.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  driver.cbid = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2;
  CUpti_ActivityAPI unknown = driver;
  unknown.cbid = 99'999;
  RawRecords records;
  parse(records.add(call).add(driver).add(unknown));
  ASSERT_THAT(trace_.api_calls, SizeIs(3));
  EXPECT_EQ(name(trace_.api_calls[0].name), "cudaLaunchKernel");
  EXPECT_EQ(trace_.api_calls[0].start_ns, 500);
  EXPECT_EQ(trace_.api_calls[0].end_ns, 1100);
  EXPECT_EQ(trace_.api_calls[0].thread, 1234);
  EXPECT_EQ(trace_.api_calls[0].correlation_id, 9u);
  EXPECT_EQ(name(trace_.api_calls[1].name), "cuMemcpyHtoDAsync_v2") << "the driver's version is part of the name";
  EXPECT_EQ(name(trace_.api_calls[2].name), "driver call 99999");
}

TEST_F(ActivityParserTest, SynchronizationsAndOverhead) {
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  wait.start = 2000;
  wait.end = 3000;
  wait.streamId = 7;
  CUpti_ActivitySynchronization2 whole = wait;
  whole.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  whole.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  CUpti_ActivityOverhead3 pause{};
  pause.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  pause.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  pause.start = 4000;
  pause.end = 4500;
  RawRecords records;
  parse(records.add(wait).add(whole).add(pause));
  ASSERT_THAT(trace_.synchronizations, SizeIs(2));
  EXPECT_EQ(trace_.synchronizations[0].kind, "stream event");
  EXPECT_EQ(trace_.synchronizations[0].stream, 7);
  EXPECT_EQ(trace_.synchronizations[0].end_ns, 1500);
  EXPECT_EQ(trace_.synchronizations[1].kind, "context");
  EXPECT_EQ(trace_.synchronizations[1].stream, -1);
  ASSERT_THAT(trace_.overhead_records, SizeIs(1));
  EXPECT_EQ(trace_.overhead_records[0].kind, "buffer flush");
  EXPECT_EQ(trace_.overhead_records[0].start_ns, 2500);
}

TEST_F(ActivityParserTest, AnnouncedBuffersAreNotMovedWhileTheyAreParsed) {
  RawRecords records;
  for (int i = 0; i < 1000; ++i) records.add(raw_kernel("k", 2000, 2001));
  parser_.expect(records.buffer(), records.bytes());
  parser_.expect(records.buffer(), records.bytes());
  parse(records);
  const event::Activity* first = trace_.activities.data();
  EXPECT_GE(trace_.activities.capacity(), 2000u);
  parse(records);
  EXPECT_EQ(trace_.activities.data(), first);
  EXPECT_THAT(trace_.activities, SizeIs(2000));
}

TEST_F(ActivityParserTest, AnnouncingABufferThatChangesItsKindsLosesNothing) {
  RawRecords records;
  for (int i = 0; i < 300; ++i) records.add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2000, 2001, 8));
  for (int i = 0; i < 2000; ++i) records.add(raw_kernel("k", 2000, 2001));
  parser_.expect(records.buffer(), records.bytes());
  parse(records);
  EXPECT_THAT(trace_.activities, SizeIs(2300));
  EXPECT_THAT(parser_.dropped_records(), IsEmpty());
}

TEST_F(ActivityParserTest, ACutBufferCanBeAnnounced) {
  RawRecords records;
  records.add(raw_kernel("k", 2000, 2001)).add(raw_kernel("k", 2000, 2001)).cut(10);
  parser_.expect(records.buffer(), records.bytes());
  parser_.expect(records.buffer(), 0);
  parse(records);
  EXPECT_THAT(trace_.activities, SizeIs(1));
  EXPECT_THAT(parser_.dropped_records(), SizeIs(1));
}

TEST(CountActivityRecords, CountsWhatCanBeRead) {
  RawRecords records;
  EXPECT_EQ(count_activity_records(records.buffer(), 0), 0);
  records.add(raw_kernel("a", 1, 2)).add(raw_copy(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1, 2, 3)).add(raw_kernel("b", 1, 2));
  EXPECT_EQ(count_activity_records(records.buffer(), records.bytes()), 3);
  EXPECT_EQ(count_activity_records(records.buffer(), records.bytes() - 10), 2);
}

}  // namespace
}  // namespace kymo::collect

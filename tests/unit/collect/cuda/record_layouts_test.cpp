// SPDX-License-Identifier: Apache-2.0
// The rows of a buffer are the same with each version of CUPTI. The program is built once per version.
#include <cupti.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "collect/cuda/activity_parser.hpp"
#include "collect/cuda/launch_calls.hpp"
#include "collect/cuda/record_sizes.hpp"
#include "unit/collect/cuda/fabricated_records.hpp"

namespace kymo::collect {
namespace {

class RecordLayouts : public testing::Test {
 protected:
  RecordLayouts() {
    std::uint32_t running = 0;
    EXPECT_EQ(cuptiGetVersion(&running), CUPTI_SUCCESS);
    EXPECT_EQ(running, records_.cupti_version) << "the library that is loaded is not that of the records";
  }
  std::uint8_t* buffer() { return reinterpret_cast<std::uint8_t*>(records_.words.data()); }
  std::size_t bytes() const { return records_.words.size() * sizeof(std::uint64_t); }
  std::string text(event::TextId id) const { return trace_.texts.text(id); }

  FabricatedRecords records_ = fabricate_records();
  event::Trace trace_;
  // The other clock is 1000 ahead of the host clock; the run began at 500.
  ActivityParser parser_{ClockConversion(ClockPair{0, 1000, 0}), 500, trace_};
};

TEST_F(RecordLayouts, SizesAreThoseOfTheNewestStructs) {
  for (std::size_t i = 0; i < records_.kinds.size(); ++i)
    EXPECT_EQ(record_size(static_cast<CUpti_ActivityKind>(records_.kinds[i])), records_.sizes[i]) << records_.kinds[i];
}

TEST_F(RecordLayouts, OtherKindsHaveNoSize) {
  EXPECT_EQ(record_size(CUPTI_ACTIVITY_KIND_INVALID), 0u);
  EXPECT_EQ(record_size(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), 0u);
  EXPECT_EQ(record_size(static_cast<CUpti_ActivityKind>(4711)), 0u);
}

TEST_F(RecordLayouts, ActivitiesHaveTheSameRows) {
  parser_.parse(buffer(), bytes());
  std::vector<std::string> rows;
  for (const event::Activity& each : trace_.activities) {
    rows.push_back(text(each.name) + " " + std::to_string(each.start_ns) + " " + std::to_string(each.end_ns) + " " +
                   std::to_string(each.bytes) + " " + std::to_string(each.correlation_id) + " " +
                   std::to_string(each.stream) + " " + std::to_string(each.graph_node));
  }
  EXPECT_THAT(rows,
              testing::ElementsAre("memcpy host to device 900 950 6496 43 13 77",
                                   "memcpy peer to peer 1000 1050 6596 43 13 77", "memset 1100 1150 6696 43 13 77",
                                   "void ab::kernel<float>(float*) 500 800 0 42 7 1099511627781"));
  ASSERT_THAT(trace_.shapes, testing::SizeIs(1));
  EXPECT_EQ(trace_.shapes[0], (event::LaunchShape{{10, 2, 3}, {256, 4, 5}, 1024, 4096, 128}));
}

TEST_F(RecordLayouts, CallsWaitsAndOverheadHaveTheSameRows) {
  parser_.parse(buffer(), bytes());
  ASSERT_THAT(trace_.api_calls, testing::SizeIs(2));
  EXPECT_EQ(text(trace_.api_calls[0].name), "runtime call 1000000");
  EXPECT_EQ(text(trace_.api_calls[1].name), "driver call 1000000");
  for (const event::ApiCall& call : trace_.api_calls) {
    EXPECT_EQ(call.end_ns - call.start_ns, 60);
    EXPECT_EQ(call.thread, 1234);
    EXPECT_EQ(call.correlation_id, 44u);
  }
  ASSERT_THAT(trace_.synchronizations, testing::SizeIs(1));
  EXPECT_EQ(trace_.synchronizations[0].kind, "context");
  EXPECT_EQ(trace_.synchronizations[0].start_ns, 1300);
  EXPECT_EQ(trace_.synchronizations[0].stream, -1);
  EXPECT_EQ(trace_.synchronizations[0].correlation_id, 45u);
  ASSERT_THAT(trace_.overhead_records, testing::SizeIs(1));
  EXPECT_EQ(trace_.overhead_records[0].kind, "buffer flush");
  EXPECT_EQ(trace_.overhead_records[0].end_ns, 1600);
}

TEST_F(RecordLayouts, AWholeBufferDropsNothing) {
  parser_.expect(buffer(), bytes());
  parser_.parse(buffer(), bytes());
  EXPECT_THAT(parser_.dropped_records(), testing::IsEmpty()) << "its end is that of its last record";
}

TEST_F(RecordLayouts, ACutBufferLosesItsLastRecord) {
  parser_.parse(buffer(), bytes() - sizeof(std::uint64_t));
  EXPECT_THAT(trace_.activities, testing::SizeIs(3));
  EXPECT_THAT(parser_.dropped_records(), testing::SizeIs(1));
}

TEST_F(RecordLayouts, LaunchCallsAreThoseThatThisVersionReports) {
  std::set<CUpti_CallbackId> calls;
  for (const LaunchCall& each : launch_calls(records_.cupti_version)) calls.insert(each.call);
  for (const std::uint32_t call : records_.new_calls) EXPECT_TRUE(calls.contains(call)) << call;
  EXPECT_EQ(calls.size(), launch_calls(0).size() + records_.new_calls.size());
  EXPECT_TRUE(calls.contains(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
}

}  // namespace
}  // namespace kymo::collect

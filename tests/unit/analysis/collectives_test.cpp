// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/derive.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::Attribution;
using event::Collective;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

class AttributeCollectives : public ::testing::Test {
 protected:
  static event::Position on(std::uint32_t thread, event::Position position = TraceBuilder::position(0, 1)) {
    position.thread = thread;
    return position;
  }
  /// A call on a stream, issued by a thread.
  void call(std::int64_t enqueue_ns, std::int64_t returned_ns, std::uint32_t thread = 0) {
    Collective made;
    made.on_device = true;
    made.enqueue_ns = enqueue_ns;
    made.returned_ns = returned_ns;
    made.position = on(thread);
    made_.trace.collectives.push_back(made);
  }
  /// A communication kernel and its launch.
  void kernel(std::uint32_t id, std::int64_t launch_ns, std::int64_t start_ns, std::int64_t end_ns,
              std::uint32_t thread = 0) {
    made_.launch(id, launch_ns, on(thread));
    made_.activity(id, start_ns, end_ns, kReduce);
  }
  std::vector<event::DroppedRecords> attribute_all() {
    attribute(made_.trace);
    std::vector<bool> communicates(made_.trace.texts.size() + 1, false);
    for (event::TextId id = 1; id <= made_.trace.texts.size(); ++id)
      communicates[id] = made_.text(id).rfind("nccl", 0) == 0;
    return attribute_collectives(made_.trace, communicates);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> times() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    for (const Collective& each : made_.trace.collectives) result.emplace_back(each.start_ns, each.end_ns);
    return result;
  }
  const Collective& at(std::size_t i) const { return made_.trace.collectives.at(i); }

  TraceBuilder made_;
};

TEST_F(AttributeCollectives, OfNothingIsNothing) { EXPECT_THAT(attribute_all(), IsEmpty()); }

TEST_F(AttributeCollectives, GivesEachCallTheKernelThatItLaunched) {
  call(10, 20);
  call(30, 40);
  kernel(1, 15, 100, 200);
  kernel(2, 35, 200, 350);
  EXPECT_THAT(attribute_all(), IsEmpty());
  EXPECT_THAT(times(), ElementsAre(Pair(100, 200), Pair(200, 350)));
  EXPECT_EQ(at(0).kernels, 1);
  EXPECT_EQ(at(0).position.step, 0);
  EXPECT_EQ(at(0).position.phase, 1);
  EXPECT_EQ(at(0).attribution, Attribution::kPhase);
}

TEST_F(AttributeCollectives, LastsFromTheFirstToTheLastOfSeveralKernels) {
  call(10, 20);
  kernel(1, 12, 150, 200);
  kernel(2, 14, 100, 130);
  kernel(3, 16, 110, 300);
  attribute_all();
  EXPECT_THAT(times(), ElementsAre(Pair(100, 300)));
  EXPECT_EQ(at(0).kernels, 3);
}

TEST_F(AttributeCollectives, AreNeededOnTheDeviceWhenTheNextKernelOfTheWaitingThreadCouldStart) {
  call(10, 20);
  kernel(1, 15, 100, 200);
  made_.trace.collectives[0].needed_call_ns = 40;
  made_.trace.collectives[0].needed_position = on(3, TraceBuilder::position(0, 0));
  made_.launch(2, 30, on(3));
  made_.activity(2, 60, 170, "before");
  made_.launch(3, 50, on(4));
  made_.activity(3, 300, 310, "of another thread");
  made_.launch(4, 70, on(3));
  made_.activity(4, 201, 260, "user");
  for (event::Activity& activity : made_.trace.activities) activity.stream = activity.correlation_id == 1 ? 9 : 7;
  made_.trace.activities[2].stream = 8;
  attribute_all();
  EXPECT_EQ(at(0).needed_ns, 170);
  EXPECT_EQ(at(0).needed_position.phase, 0);
}

TEST_F(AttributeCollectives, AreNeededByACopyUnlessACallMadeIt) {
  call(10, 20);
  kernel(1, 15, 100, 200);
  made_.trace.collectives[0].needed_call_ns = 40;
  call(45, 55);
  made_.launch(2, 50, on(0));
  made_.activity(2, 60, 65, "of another call", event::ActivityKind::kMemcpy);
  made_.launch(3, 70, on(0));
  made_.activity(3, 201, 205, "user", event::ActivityKind::kMemcpy);
  made_.launch(4, 80, on(0));
  made_.activity(4, 206, 260, "later");
  call(290, 300);
  kernel(5, 295, 310, 320);
  for (event::Activity& activity : made_.trace.activities) activity.stream = activity.correlation_id < 3 ? 9 : 7;
  attribute_all();
  EXPECT_EQ(at(0).needed_ns, 70);
}

TEST_F(AttributeCollectives, AreNotNeededOnTheDeviceBeforeTheLaunch) {
  call(10, 20);
  kernel(1, 15, 100, 200);
  made_.trace.collectives[0].needed_call_ns = 40;
  made_.launch(2, 180, on(0));
  made_.activity(2, 201, 260, "user");
  made_.trace.activities[0].stream = 9;
  attribute_all();
  EXPECT_EQ(at(0).needed_ns, 180);
}

TEST_F(AttributeCollectives, AreNeededOnTheHostWhenTheWaitBegins) {
  call(10, 20);
  made_.trace.collectives[0].on_device = false;
  made_.trace.collectives[0].needed_call_ns = 15;
  attribute_all();
  EXPECT_EQ(at(0).needed_ns, 15);
  call(30, 40);
  attribute_all();
  EXPECT_EQ(at(1).needed_ns, -1);
}

TEST_F(AttributeCollectives, CallsOfAGroupShareItsKernels) {
  call(10, 50);
  call(11, 51);
  call(12, 52);
  kernel(1, 30, 100, 200);
  kernel(2, 31, 120, 260);
  call(60, 70);
  kernel(3, 65, 300, 400);
  EXPECT_THAT(attribute_all(), IsEmpty());
  EXPECT_THAT(times(), ElementsAre(Pair(100, 260), Pair(100, 260), Pair(100, 260), Pair(300, 400)));
  EXPECT_EQ(at(1).kernels, 2);
}

TEST_F(AttributeCollectives, ACallThatIsEndedLateTakesNoKernelOfTheNext) {
  call(10, 500);
  kernel(1, 15, 100, 200);
  call(20, 510);
  kernel(2, 25, 200, 300);
  EXPECT_THAT(attribute_all(), IsEmpty());
  EXPECT_THAT(times(), ElementsAre(Pair(100, 200), Pair(200, 300)));
}

TEST_F(AttributeCollectives, KernelsOfOtherThreadsAndOtherKindsAreNotItsOwn) {
  call(10, 20, 1);
  kernel(1, 15, 100, 200, 2);  // launched by c10d itself
  made_.launch(2, 15, on(1));
  made_.activity(2, 110, 120, "elementwise_kernel");
  made_.launch(3, 25, on(1));
  made_.activity(3, 130, 140, kReduce);  // after the call returned
  made_.activity(77, 15, 18, kReduce);   // without a launch
  const auto dropped_records = attribute_all();
  EXPECT_THAT(times(), ElementsAre(Pair(-1, -1)));
  EXPECT_EQ(at(0).kernels, 0);
  EXPECT_EQ(lost(dropped_records, "without kernels"), 1);
}

TEST_F(AttributeCollectives, ThreadsDoNotMixAndOrderDoesNotMatter) {
  call(10, 40, 1);
  call(11, 41, 2);
  kernel(1, 30, 300, 400, 2);
  kernel(2, 31, 100, 200, 1);
  std::swap(made_.trace.launches[0], made_.trace.launches[1]);
  EXPECT_THAT(attribute_all(), IsEmpty());
  EXPECT_THAT(times(), ElementsAre(Pair(100, 200), Pair(300, 400)));
}

TEST_F(AttributeCollectives, ReplayedByAGraphIsNotSeen) {
  call(10, 20);
  made_.launch(1, 15, on(0), event::LaunchKind::kGraph);
  made_.activity(1, 100, 200, kReduce).graph_node = 9;
  const auto dropped_records = attribute_all();
  EXPECT_THAT(times(), ElementsAre(Pair(-1, -1)));
  EXPECT_EQ(lost(dropped_records, "replayed by a CUDA graph"), 1);
}

TEST_F(AttributeCollectives, WithoutRecordedKernelsNothingIsMissed) {
  call(10, 20);
  EXPECT_THAT(attribute_all(), IsEmpty());
  EXPECT_EQ(at(0).start_ns, -1);
}

TEST_F(AttributeCollectives, OneThatNeverEndedIsADroppedRecordAndClaimsNothing) {
  call(10, -1);
  kernel(1, 15, 100, 200);
  const auto dropped_records = attribute_all();
  EXPECT_THAT(dropped_records, SizeIs(1));
  EXPECT_EQ(lost(dropped_records, "without an end"), 1);
  EXPECT_THAT(times(), ElementsAre(Pair(-1, -1)));
}

TEST_F(AttributeCollectives, WithoutAStreamItLastsFromCallToEnd) {
  call(10, 90);
  call(20, -1);
  for (Collective& each : made_.trace.collectives) each.on_device = false;
  kernel(1, 15, 100, 200);
  const auto dropped_records = attribute_all();
  EXPECT_THAT(times(), ElementsAre(Pair(10, 90), Pair(20, -1)));
  EXPECT_EQ(at(0).kernels, 0);
  EXPECT_EQ(lost(dropped_records, "without an end"), 1);
  EXPECT_EQ(lost(dropped_records, "reported without a stream"), 1) << "what it launched ran on after it";
}

TEST_F(AttributeCollectives, WithoutAStreamItMayWaitForItsKernels) {
  call(10, 250);
  call(300, 310);
  for (Collective& each : made_.trace.collectives) each.on_device = false;
  kernel(1, 15, 100, 200);
  EXPECT_THAT(attribute_all(), IsEmpty());
  EXPECT_THAT(times(), ElementsAre(Pair(10, 250), Pair(300, 310)));
}

TEST_F(AttributeCollectives, ACallInAHookBelongsToTheForwardScopeOfItsNode) {
  const std::int32_t block = made_.scope("block_3", 100, 200);
  const std::int32_t hook = made_.scope("hook", -1, -1);
  call(10, 20);
  call(30, 40);
  call(50, 60);
  made_.trace.collectives[0].position = TraceBuilder::position(4, 1, hook, {150, 1});
  made_.trace.collectives[1].position = TraceBuilder::position(4, 1, block);
  made_.trace.collectives[2].position = TraceBuilder::position(-1, 99, 1'000);
  attribute_all();
  EXPECT_EQ(at(0).attribution, Attribution::kAutograd);
  EXPECT_EQ(made_.text(at(0).scope), "block_3");
  EXPECT_EQ(at(0).position.step, 4);
  EXPECT_EQ(at(1).attribution, Attribution::kLaunch);
  EXPECT_EQ(made_.text(at(1).scope), "block_3");
  EXPECT_EQ(at(2).attribution, Attribution::kNone);
  EXPECT_EQ(at(2).position.phase, -1);
  EXPECT_EQ(at(2).position.step, -1);
}

}  // namespace
}  // namespace kymo::analysis

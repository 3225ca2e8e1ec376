// SPDX-License-Identifier: Apache-2.0
// Collective calls in instrumented passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "measure/status_page.hpp"
#include "unit/worker/engine_fixture.hpp"
#include "worker/collective_recorder.hpp"
#include "worker/range_recorder.hpp"

namespace kymo::worker {
namespace {

using event::Collective;
using event::CollectiveOperation;
using measure::Pass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr kymo_status kFine = KYMO_OK;

kymo_collective made(std::uint32_t operation, std::uint64_t bytes, const char* communicator = nullptr,
                     std::uint64_t sequence = 0) {
  return {sizeof(kymo_collective), operation, bytes, nullptr, communicator, sequence};
}

std::int64_t lost(const event::PassRecord& record, const std::string& part) {
  for (const event::DroppedRecords& loss : record.dropped_records)
    if (loss.source == "collective" && loss.detail.find(part) != std::string::npos) return loss.count;
  return 0;
}

class CollectivesTest : public EngineTest {
 protected:
  CollectivesTest() {
    assignment = fake_assignment(Pass::kTrace);
    assignment.method.warmup = 0;
    assignment.method.steps = 1;
  }
  static std::uint64_t begin(const FakeHost& host, const kymo_collective& call) {
    return host.host->collective_begin(host.context, &call);
  }
  static void end(const FakeHost& host, std::uint64_t handle) { host.host->collective_end(host.context, handle); }
};

TEST_F(CollectivesTest, AreToldOfWhereverThereAreSteps) {
  for (const Pass pass : {Pass::kTime, Pass::kVerify, Pass::kMemory, Pass::kTrace, Pass::kOps}) {
    assignment.pass = pass;
    FakeWorkload workload;
    bool there = false;
    workload.on_prepare = [&](const FakeHost& host) {
      there = host.host->collective_begin != nullptr;
      EXPECT_EQ(there, host.host->collective_end != nullptr);
      return kFine;
    };
    run(workload);
    EXPECT_EQ(there, pass != Pass::kVerify) << to_string(pass);
  }
}

TEST_F(CollectivesTest, AreShownToTheSupervisorInThePassTime) {
  assignment.pass = Pass::kTime;
  assignment.rank_file = (std::filesystem::path(testing::TempDir()) / ("shown_" + std::to_string(getpid()))).string();
  const auto position = measure::status_file(assignment.rank_file);
  std::optional<measure::WorkerStatus> inside, after;
  FakeWorkload workload({"communication"});
  workload.on_step = [&](const FakeHost& host) {
    host.begin("communication");
    const std::uint64_t handle = begin(host, made(KYMO_BROADCAST, 12, "world", 0));
    inside = measure::StatusPage::read(position);
    end(host, handle);
    host.end();
    after = measure::StatusPage::read(position);
    return kFine;
  };
  const PassResult result = run(workload);
  EXPECT_TRUE(result.record.trace.collectives.empty());
  ASSERT_TRUE(inside && after);
  EXPECT_EQ(inside->phase, "communication");
  EXPECT_GE(inside->step, 0);
  EXPECT_EQ(inside->collectives_begun, inside->collectives_ended + 1);
  ASSERT_FALSE(inside->last_collectives.empty());
  EXPECT_EQ(inside->last_collectives.back().number, inside->collectives_begun);
  EXPECT_EQ(inside->last_collectives.back().operation, "broadcast");
  EXPECT_EQ(inside->last_collectives.back().communicator, "world");
  EXPECT_EQ(inside->last_collectives.back().bytes, 12);
  EXPECT_EQ(after->phase, "");
  EXPECT_EQ(after->collectives_ended, after->collectives_begun);
  std::filesystem::remove(position);
}

TEST_F(CollectivesTest, AreRecordedWithTheirPosition) {
  FakeWorkload workload({"backward"});
  workload.on_prepare = [](const FakeHost& host) {
    end(host, begin(host, made(KYMO_BROADCAST, 12, "world", 0)));
    return kFine;
  };
  workload.on_step = [](const FakeHost& host) {
    host.begin("backward");
    host.host->scope_begin(host.context, "hook");
    kymo_collective call = made(KYMO_REDUCE_SCATTER, 1 << 20, "data", 41);
    call.stream = &call;
    end(host, begin(host, call));
    host.host->scope_end(host.context);
    return host.end();
  };
  const PassResult result = run(workload);
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  const event::Trace& trace = result.record.trace;
  ASSERT_THAT(trace.collectives, SizeIs(2));
  EXPECT_EQ(trace.collectives[0].position.step, -1);
  EXPECT_EQ(trace.collectives[0].operation, CollectiveOperation::kBroadcast);
  EXPECT_EQ(trace.collectives[0].start_ns, trace.collectives[0].enqueue_ns) << "placed by the analysis";
  const Collective& call = trace.collectives[1];
  EXPECT_EQ(call.operation, CollectiveOperation::kReduceScatter);
  EXPECT_EQ(trace.texts.text(call.communicator), "data");
  EXPECT_EQ(call.sequence, 41);
  EXPECT_EQ(call.bytes, 1 << 20);
  EXPECT_TRUE(call.on_device);
  EXPECT_EQ(call.position.step, 0);
  EXPECT_EQ(call.position.phase, 0);
  EXPECT_EQ(trace.texts.text(call.scope), "hook");
  EXPECT_EQ(call.attribution, event::Attribution::kLaunch);
  EXPECT_GE(call.enqueue_ns, trace.collectives[0].returned_ns);
  EXPECT_GE(call.returned_ns, call.enqueue_ns);
  EXPECT_THAT(result.record.dropped_records, IsEmpty());
}

TEST_F(CollectivesTest, TheFirstNeedOfAResultCounts) {
  FakeWorkload workload({"forward", "backward"});
  workload.on_step = [](const FakeHost& host) {
    host.begin("forward");
    const std::uint64_t named = begin(host, made(KYMO_ALL_GATHER, 8, "data", 0));
    const std::uint64_t unnamed = begin(host, made(KYMO_ALL_GATHER, 8, "data", 1));
    end(host, named);
    host.end();
    host.begin("backward");
    host.host->collective_needed(host.context, named, "layer");
    host.host->collective_needed(host.context, named, "another");
    host.host->collective_needed(host.context, 12345, "unknown");
    host.host->scope_begin(host.context, "block");
    host.host->collective_needed(host.context, unnamed, nullptr);
    host.host->scope_end(host.context);
    end(host, unnamed);
    return host.end();
  };
  const PassResult result = run(workload);
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  const event::Trace& trace = result.record.trace;
  ASSERT_THAT(trace.collectives, SizeIs(2));
  const Collective &named = trace.collectives[0], &unnamed = trace.collectives[1];
  EXPECT_EQ(trace.texts.text(named.needed_by), "layer");
  EXPECT_EQ(trace.texts.text(unnamed.needed_by), "block");
  EXPECT_EQ(named.position.phase, 0);
  EXPECT_EQ(named.needed_position.phase, 1);
  EXPECT_GE(named.needed_ns, named.end_ns);
  EXPECT_LE(unnamed.needed_ns, unnamed.end_ns);
  EXPECT_THAT(result.record.dropped_records, IsEmpty());
}

TEST(CollectiveRecorder, ObservedCallsOfALibrarysThreadArePartOfTheReportedOne) {
  CollectiveRecorder recorder(0);
  const kymo_collective call = made(KYMO_ALL_GATHER, 8, "data", 0);
  const std::uint64_t handle = recorder.begin(&call);
  Collective of_library, of_group;
  of_library.enqueue_ns = of_group.enqueue_ns = now_ns();
  of_library.position.thread = of_group.position.thread = RangeRecorder::execution_context().position().thread + 1;
  of_library.operation = of_group.operation = CollectiveOperation::kAllGather;
  of_group.group_ranks = 2;
  recorder.end(handle);
  Collective after = of_library;
  after.enqueue_ns = now_ns() + 1'000'000'000;
  event::PassRecord record;
  record.trace.collectives = {of_library, of_group, after};
  recorder.collect(record);
  ASSERT_THAT(record.trace.collectives, SizeIs(3));
  EXPECT_EQ(record.trace.collectives[0].operation, CollectiveOperation::kAllGather);
  EXPECT_EQ(record.trace.collectives[1].group_ranks, 2);
  EXPECT_EQ(record.trace.collectives[2].enqueue_ns, after.enqueue_ns);
}

TEST(CollectiveRecorder, CallsThatALibraryMadeHaveItsNeed) {
  CollectiveRecorder recorder(0);
  kymo_collective library = made(KYMO_LIBRARY_CALLS, 0);
  const std::uint64_t calls = recorder.begin(&library);
  const std::int64_t within_ns = now_ns();
  recorder.end(calls);
  recorder.needed(calls, "layer");
  event::PassRecord record;
  Collective within, after;
  within.enqueue_ns = within_ns;
  after.enqueue_ns = now_ns() + 1'000'000'000;
  within.position.thread = after.position.thread = RangeRecorder::execution_context().position().thread;
  record.trace.collectives = {within, after};
  recorder.collect(record);
  ASSERT_THAT(record.trace.collectives, SizeIs(2));
  EXPECT_GE(record.trace.collectives[0].needed_call_ns, within_ns);
  EXPECT_EQ(record.trace.texts.text(record.trace.collectives[0].needed_by), "layer");
  EXPECT_EQ(record.trace.collectives[1].needed_call_ns, -1);
}

TEST_F(CollectivesTest, EndOnAnotherThreadAndAfterTheStep) {
  FakeWorkload workload;
  std::uint64_t handle = 0;
  FakeHost kept;
  workload.on_step = [&](const FakeHost& host) {
    kept = host;
    std::thread([&] { handle = begin(host, made(KYMO_ALL_REDUCE, 4)); }).join();
    return kFine;
  };
  workload.on_destroy = [&] { end(kept, handle); };
  const PassResult result = run(workload);
  ASSERT_THAT(result.record.trace.collectives, SizeIs(1));
  const Collective& call = result.record.trace.collectives[0];
  EXPECT_EQ(call.position.step, 0);
  EXPECT_GE(call.returned_ns, call.enqueue_ns);
  EXPECT_EQ(result.record.trace.texts.text(call.communicator), "");
  EXPECT_THAT(result.record.dropped_records, IsEmpty());
}

TEST_F(CollectivesTest, OneThatNeverEndsIsKeptAndCounted) {
  FakeWorkload workload;
  workload.on_step = [](const FakeHost& host) {
    begin(host, made(KYMO_BARRIER, 0));
    return kFine;
  };
  const PassResult result = run(workload);
  ASSERT_THAT(result.record.trace.collectives, SizeIs(1));
  EXPECT_EQ(result.record.trace.collectives[0].returned_ns, -1);
  EXPECT_EQ(lost(result.record, "without an end"), 1);
}

TEST_F(CollectivesTest, HandlesThatAreUnknownOrStaleAreCounted) {
  FakeWorkload workload;
  std::uint64_t first = 0;
  workload.on_step = [&](const FakeHost& host) {
    first = begin(host, made(KYMO_BARRIER, 0));
    end(host, first);
    end(host, first);
    end(host, 12345);
    end(host, std::numeric_limits<std::uint64_t>::max());
    end(host, first + 1);
    return kFine;
  };
  PassResult result = run(workload);
  ASSERT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(lost(result.record, "without a matching begin, or twice"), 4);
  ASSERT_THAT(result.record.trace.collectives, SizeIs(1));
  workload.on_step = [&](const FakeHost& host) {
    begin(host, made(KYMO_BARRIER, 0));
    end(host, first);  // of the previous pass
    return kFine;
  };
  result = run(workload);
  EXPECT_EQ(lost(result.record, "without a matching begin, or twice"), 1);
  EXPECT_EQ(result.record.trace.collectives.at(0).returned_ns, -1);
}

TEST(CollectiveRecorder, CountsCallsOfPluginsThatDoNot) {
  CollectiveRecorder recorder(0);
  const auto counted = [&](std::size_t size, const char* communicator) {
    kymo_collective call = made(KYMO_ALL_REDUCE, 1, communicator, 99);
    call.size = static_cast<std::uint32_t>(size);
    recorder.end(recorder.begin(&call));
  };
  constexpr std::size_t kWithoutName = offsetof(kymo_collective, communicator);
  constexpr std::size_t kWithName = offsetof(kymo_collective, sequence);
  counted(kWithoutName, "must not be read");
  counted(kWithName, "a");
  counted(kWithoutName, "must not be read");
  counted(kWithName, "a");
  counted(sizeof(kymo_collective), "a");
  counted(sizeof(kymo_collective) + 64, "a");  // of a newer kymo
  event::PassRecord record;
  recorder.collect(record);
  std::vector<std::pair<std::string, std::int64_t>> calls;
  for (const Collective& each : record.trace.collectives)
    calls.emplace_back(record.trace.texts.text(each.communicator), each.sequence);
  using Call = std::pair<std::string, std::int64_t>;
  EXPECT_THAT(calls, ElementsAre(Call("", 0), Call("a", 0), Call("", 1), Call("a", 1), Call("a", 99), Call("a", 99)));
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

TEST(CollectiveRecorder, RejectsWhatMakesNoSense) {
  CollectiveRecorder recorder(0);
  kymo_collective unknown = made(0, 1);
  EXPECT_EQ(recorder.begin(&unknown), 0u);
  unknown.operation = 77;
  EXPECT_EQ(recorder.begin(&unknown), 0u);
  kymo_collective tiny = made(KYMO_ALL_REDUCE, 1);
  tiny.size = 4;  // too small even for the operation
  EXPECT_EQ(recorder.begin(&tiny), 0u);
  EXPECT_EQ(recorder.begin(nullptr), 0u);
  recorder.end(0);
  kymo_collective huge =
      made(KYMO_ALL_REDUCE, std::numeric_limits<std::uint64_t>::max(), "x", std::numeric_limits<std::uint64_t>::max());
  recorder.end(recorder.begin(&huge));
  event::PassRecord record;
  recorder.collect(record);
  EXPECT_EQ(lost(record, "unknown to this version"), 4);
  ASSERT_THAT(record.trace.collectives, SizeIs(1));
  EXPECT_EQ(record.trace.collectives[0].bytes, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(record.trace.collectives[0].sequence, std::numeric_limits<std::int64_t>::max());
}

TEST(CollectiveRecorder, KeepsNoMoreThanItsBoundAndNothingAfterwards) {
  CollectiveRecorder recorder(0, 3);
  const kymo_collective call = made(KYMO_ALL_GATHER, 8);
  std::vector<std::uint64_t> handles;
  for (int i = 0; i < 5; ++i) handles.push_back(recorder.begin(&call));
  EXPECT_EQ(handles[3], 0u);
  for (const std::uint64_t handle : handles) recorder.end(handle);
  event::PassRecord record;
  recorder.collect(record);
  EXPECT_THAT(record.trace.collectives, SizeIs(3));
  EXPECT_EQ(lost(record, "beyond the first 3 of a pass"), 2);
  EXPECT_THAT(record.dropped_records, SizeIs(1)) << "that a call was not kept says enough";
  EXPECT_EQ(recorder.begin(&call), 0u);
  recorder.end(handles[0]);
  event::PassRecord again;
  recorder.collect(again);
  EXPECT_THAT(again.trace.collectives, IsEmpty());
}

TEST(CollectiveRecorder, TakesCallsOfSeveralThreads) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  CollectiveRecorder recorder(0);
  // Each thread ends the calls that the previous one began.
  std::vector<std::vector<std::atomic<std::uint64_t>>> handles;
  for (int i = 0; i < kThreads; ++i) handles.emplace_back(kCalls);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string name = "communicator " + std::to_string(thread);
      const auto own = static_cast<std::size_t>(thread);
      const std::size_t other = (own + 1) % kThreads;
      for (std::size_t i = 0; i < kCalls; ++i) {
        const kymo_collective call = made(KYMO_ALL_REDUCE, i, name.c_str(), i);
        handles[own][i] = recorder.begin(&call);
      }
      for (std::size_t i = 0; i < kCalls; ++i) {
        while (handles[other][i] == 0) std::this_thread::yield();
        recorder.end(handles[other][i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  event::PassRecord record;
  recorder.collect(record);
  ASSERT_THAT(record.trace.collectives, SizeIs(kThreads * kCalls));
  EXPECT_THAT(record.dropped_records, IsEmpty());
  std::set<std::pair<event::TextId, std::int64_t>> seen;
  std::int64_t before_ns = 0;
  for (const Collective& each : record.trace.collectives) {
    EXPECT_LE(before_ns, each.enqueue_ns) << "in the order of their calls";
    before_ns = each.enqueue_ns;
    EXPECT_GE(each.returned_ns, each.enqueue_ns);
    EXPECT_EQ(each.bytes, each.sequence);
    seen.emplace(each.communicator, each.sequence);
  }
  EXPECT_THAT(seen, SizeIs(kThreads * kCalls));
}

TEST(CollectiveRecorder, CallsWithinReportedOnesArePartOfThem) {
  const std::int64_t start_ns = now_ns();
  CollectiveRecorder recorder(start_ns);
  const kymo_collective reported = made(KYMO_ALL_REDUCE, 8);
  const std::uint64_t handle = recorder.begin(&reported);
  Collective inside;  // as a collector observes them
  inside.operation = CollectiveOperation::kBroadcast;
  inside.enqueue_ns = now_ns() - start_ns;
  Collective elsewhere = inside;
  elsewhere.position.thread = 5;
  recorder.end(handle);
  Collective before = inside, after = inside;
  before.enqueue_ns = -1;
  after.enqueue_ns = now_ns() - start_ns + 1;
  event::PassRecord record;
  record.trace.collectives = {before, inside, elsewhere, after};
  recorder.collect(record);
  ASSERT_THAT(record.trace.collectives, SizeIs(4));
  EXPECT_EQ(record.trace.collectives[0].enqueue_ns, -1);
  EXPECT_EQ(record.trace.collectives[1].operation, CollectiveOperation::kAllReduce);
  EXPECT_EQ(record.trace.collectives[2].position.thread, 5u);
  EXPECT_EQ(record.trace.collectives[3].enqueue_ns, after.enqueue_ns);
}

}  // namespace
}  // namespace kymo::worker

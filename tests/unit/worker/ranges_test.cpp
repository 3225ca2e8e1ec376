// SPDX-License-Identifier: Apache-2.0
// Phases, scopes and tags in instrumented passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "unit/worker/engine_fixture.hpp"
#include "worker/range_recorder.hpp"

namespace kymo::worker {
namespace {

using event::Range;
using measure::Pass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RangesTest : public EngineTest {
 protected:
  RangesTest() {
    assignment = fake_assignment(Pass::kTrace);
    assignment.method.warmup = 0;
    assignment.method.steps = 1;
  }

  static void begin_scope(const FakeHost& host, const char* name) { host.host->scope_begin(host.context, name); }
  static void end_scope(const FakeHost& host) { host.host->scope_end(host.context); }

  static std::string path_of(const PassResult& result, std::size_t range) {
    return result.record.trace.texts.text(result.record.trace.ranges.at(range).path);
  }
};

TEST_F(RangesTest, ScopesNestWithinPhases) {
  FakeWorkload workload({"forward", "backward"});
  workload.on_step = [](const FakeHost& host) {
    host.begin("forward");
    begin_scope(host, "block_3");
    begin_scope(host, "attention");
    end_scope(host);
    end_scope(host);
    host.end();
    return host.phase("backward");
  };
  const PassResult result = run(workload);
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  const event::Trace& trace = result.record.trace;
  EXPECT_THAT(trace.phases, ElementsAre("forward", "backward"));
  ASSERT_THAT(trace.ranges, SizeIs(4));
  EXPECT_TRUE(trace.ranges[0].is_phase);
  EXPECT_EQ(trace.ranges[0].phase, 0);
  EXPECT_EQ(path_of(result, 0), "");
  EXPECT_EQ(path_of(result, 1), "block_3");
  EXPECT_EQ(path_of(result, 2), "block_3/attention");
  EXPECT_EQ(trace.ranges[2].parent, 1);
  EXPECT_EQ(trace.ranges[1].parent, 0);
  EXPECT_EQ(trace.ranges[2].step, 0);
  EXPECT_EQ(trace.ranges[2].phase, 0);
  EXPECT_EQ(trace.ranges[3].phase, 1);
  for (const Range& range : trace.ranges) EXPECT_GE(range.end_ns, range.start_ns);
  EXPECT_LE(trace.ranges[0].start_ns, trace.ranges[1].start_ns);
  EXPECT_GE(trace.ranges[0].end_ns, trace.ranges[1].end_ns);
}

TEST_F(RangesTest, EachThreadHasItsOwnScopes) {
  FakeWorkload workload;
  std::int32_t here = -2;
  std::int32_t there = -2;
  std::int32_t after = -2;
  std::uint32_t other_thread = 0;
  workload.on_step = [&](const FakeHost& host) {
    begin_scope(host, "main");
    std::thread([&] {
      begin_scope(host, "other");
      there = RangeRecorder::execution_context().thread_position().range;
      other_thread = RangeRecorder::execution_context().thread_position().number;
      end_scope(host);
    }).join();
    here = RangeRecorder::execution_context().thread_position().range;
    end_scope(host);
    after = RangeRecorder::execution_context().thread_position().range;
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  ASSERT_THAT(result.record.trace.ranges, SizeIs(2));
  EXPECT_EQ(here, 0);
  EXPECT_EQ(there, 1);
  EXPECT_EQ(after, -1);
  EXPECT_EQ(path_of(result, 1), "other");
  EXPECT_EQ(result.record.trace.ranges[1].parent, -1);
  EXPECT_EQ(result.record.trace.ranges[1].thread, other_thread);
  EXPECT_NE(result.record.trace.ranges[0].thread, other_thread);
}

TEST_F(RangesTest, NamesAreToldApartByWhatTheySayAndByWhatIsAroundThem) {
  FakeWorkload workload;
  workload.on_step = [&](const FakeHost& host) {
    std::string name = "a";  // the next name has the same address
    const auto twice = [&] {
      for (const char letter : {'a', 'b', 'a'}) {
        name[0] = letter;
        begin_scope(host, name.c_str());
        begin_scope(host, "inner");
        end_scope(host);
        end_scope(host);
      }
    };
    twice();
    begin_scope(host, "outer");
    twice();
    end_scope(host);
    for (int i = 0; i < 2000; ++i) {
      begin_scope(host, std::to_string(i).c_str());
      end_scope(host);
    }
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  const std::vector<std::string> paths = {
      "a",       "a/inner",       "b",       "b/inner",       "a",       "a/inner",      "outer",
      "outer/a", "outer/a/inner", "outer/b", "outer/b/inner", "outer/a", "outer/a/inner"};
  ASSERT_THAT(result.record.trace.ranges, SizeIs(paths.size() + 2000));
  for (std::size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(path_of(result, i), paths[i]) << i;
  for (std::size_t i = 0; i < 2000; ++i) EXPECT_EQ(path_of(result, paths.size() + i), std::to_string(i));
}

TEST_F(RangesTest, TheExecutionContextFollowsStepAndPhase) {
  FakeWorkload workload({"compute"});
  assignment.method.steps = 2;
  std::vector<event::Position> positions;
  workload.on_before_step = [&](const FakeHost&) {
    positions.push_back(RangeRecorder::execution_context().position());
    return static_cast<kymo_status>(KYMO_OK);
  };
  workload.on_step = [&](const FakeHost& host) {
    host.begin("compute");
    positions.push_back(RangeRecorder::execution_context().position());
    return host.end();
  };
  ASSERT_EQ(run(workload).outcome.status, RunStatus::kOk);
  ASSERT_THAT(positions, SizeIs(4));
  EXPECT_EQ(positions[0].phase, -1);
  EXPECT_EQ(positions[0].step, -1) << "before_step is outside of the timed stretch";
  EXPECT_EQ(positions[1].phase, 0);
  EXPECT_EQ(positions[1].step, 0);
  EXPECT_EQ(positions[3].step, 1);
  EXPECT_EQ(positions[3].node.sequence, -1);
}

TEST_F(RangesTest, AutogradNumbersBoundAScope) {
  static thread_local std::int64_t next = 0;
  next = 10;
  FakeWorkload workload;
  workload.on_step = [](const FakeHost& host) {
    RangeRecorder::execution_context().next_node = +[]() noexcept { return event::AutogradPosition{next, 7}; };
    begin_scope(host, "layer");
    next = 14;
    end_scope(host);
    RangeRecorder::execution_context().next_node = nullptr;
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  ASSERT_THAT(result.record.trace.ranges, SizeIs(1));
  EXPECT_EQ(result.record.trace.ranges[0].first_node.sequence, 10);
  EXPECT_EQ(result.record.trace.ranges[0].first_node.thread, 7u);
  EXPECT_EQ(result.record.trace.ranges[0].end_sequence, 14);
}

TEST_F(RangesTest, WhatDoesNotMatchIsSaid) {
  FakeWorkload workload;
  workload.on_step = [](const FakeHost& host) {
    end_scope(host);
    begin_scope(host, "never ended");
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  ASSERT_THAT(result.record.trace.ranges, SizeIs(1));
  const auto unmatched = [](const event::DroppedRecords& loss) { return loss.source == "scope" && loss.count == 1; };
  EXPECT_EQ(std::count_if(result.record.dropped_records.begin(), result.record.dropped_records.end(), unmatched), 1);
}

TEST_F(RangesTest, ScopesThatPhasesCutAcrossStayApart) {
  FakeWorkload workload({"a"});
  workload.on_step = [](const FakeHost& host) {
    host.begin("a");
    begin_scope(host, "late");
    host.end();
    end_scope(host);
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  ASSERT_THAT(result.record.trace.ranges, SizeIs(2));
  EXPECT_GE(result.record.trace.ranges[0].end_ns, 0);
  EXPECT_GE(result.record.trace.ranges[1].end_ns, result.record.trace.ranges[0].end_ns);
}

TEST_F(RangesTest, ObservedPassesMakeFewSteps) {
  assignment.method.warmup = 9;
  assignment.method.steps = 50;
  assignment.method.observation.warmup = 2;
  assignment.method.observation.steps = 4;
  FakeWorkload workload;
  ASSERT_EQ(run(workload).outcome.status, RunStatus::kOk);
  EXPECT_EQ(workload.count("step"), 6);
  assignment.method.until = measure::StoppingRule{};
  FakeWorkload again;
  ASSERT_EQ(run(again).outcome.status, RunStatus::kOk);
  EXPECT_EQ(again.count("step"), 6);
}

TEST_F(RangesTest, ServicesAreThoseOfThePass) {
  FakeWorkload workload;
  bool scopes = false;
  bool tags = false;
  workload.on_step = [&](const FakeHost& host) {
    scopes = host.host->scope_begin && host.host->scope_end;
    tags = host.host->tag;
    return static_cast<kymo_status>(KYMO_OK);
  };
  for (const auto& [pass, has_scopes, has_tags] : {std::tuple(Pass::kTime, false, false),
                                                   {Pass::kTrace, true, false},
                                                   {Pass::kOps, true, false},
                                                   {Pass::kCounters, true, false},
                                                   {Pass::kMemory, true, true}}) {
    assignment.pass = pass;
    ASSERT_EQ(run(workload).outcome.status, RunStatus::kOk);
    EXPECT_EQ(scopes, has_scopes) << measure::to_string(pass);
    EXPECT_EQ(tags, has_tags) << measure::to_string(pass);
  }
}

TEST_F(RangesTest, TheCountersPassRecordsNoEvents) {
  assignment.pass = Pass::kCounters;
  FakeWorkload workload({"forward"});
  workload.on_step = [](const FakeHost& host) {
    host.begin("forward");
    begin_scope(host, "block");
    end_scope(host);
    host.end();
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  ASSERT_EQ(result.outcome.status, RunStatus::kOk) << result.outcome.detail;
  EXPECT_THAT(result.record.trace.ranges, IsEmpty());
  EXPECT_THAT(result.record.trace.phases, ElementsAre("forward"));
  ASSERT_THAT(result.record.dropped_records, SizeIs(1));
  EXPECT_THAT(result.record.dropped_records[0].detail, HasSubstr("--device cuda"));
}

TEST_F(RangesTest, TagsAreKeptWithTheirTime) {
  assignment.pass = Pass::kMemory;
  FakeWorkload workload;
  int block = 0;
  workload.on_prepare = [&](const FakeHost& host) {
    host.host->tag(host.context, &block, 64, KYMO_PARAMETER);
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  ASSERT_THAT(result.record.memory_trace.tags, SizeIs(1));
  EXPECT_EQ(result.record.memory_trace.tags[0].address, reinterpret_cast<std::uint64_t>(&block));
  EXPECT_EQ(result.record.memory_trace.tags[0].bytes, 64);
  EXPECT_EQ(result.record.memory_trace.tags[0].category, std::uint32_t{KYMO_PARAMETER});
  EXPECT_GE(result.record.memory_trace.tags[0].time_ns, 0);
}

TEST_F(RangesTest, ThreadsThatOutliveThePassRecordNothing) {
  FakeWorkload workload;
  FakeHost kept;
  workload.on_step = [&](const FakeHost& host) {
    kept = host;
    begin_scope(host, "seen");
    end_scope(host);
    return static_cast<kymo_status>(KYMO_OK);
  };
  const PassResult result = run(workload);
  EXPECT_THAT(result.record.trace.ranges, SizeIs(1));
  EXPECT_EQ(RangeRecorder::execution_context().thread_position().range, -1);
}

TEST_F(RangesTest, ATimePassKeepsNoRanges) {
  assignment.pass = Pass::kTime;
  FakeWorkload workload({"compute"});
  workload.on_step = [](const FakeHost& host) { return host.phase("compute"); };
  EXPECT_THAT(run(workload).record.trace.ranges, IsEmpty());
}

TEST_F(RangesTest, ABadFileOfPatternsIsADroppedRecordAndTheEventsStay) {
  assignment.method.observation.kernel_classes = "/no/such/patterns.toml";
  FakeWorkload workload;
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  ASSERT_THAT(result.record.dropped_records, SizeIs(1));
  EXPECT_EQ(result.record.dropped_records[0].source, "analysis");
  EXPECT_THAT(result.record.dropped_records[0].detail, HasSubstr("patterns.toml"));
}

}  // namespace
}  // namespace kymo::worker

// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/counter_session.hpp"

#include <cupti_version.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "collect/collector.hpp"
#include "unit/collect/cuda/fake_profiler.hpp"

namespace kymo::collect {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CounterSessionTest : public testing::Test {
 protected:
  /// A session that counts by phase; its chip counts all of `metrics` at once.
  CounterSession& session() {
    if (!session_) session_.emplace(FakeProfiler::api(), setting);
    return *session_;
  }

  void step(std::int64_t number, double bytes) {
    session().step_begin(number);
    fake.count(kRead, 1);  // outside of phases
    phase(0, bytes);
    session().step_end();
  }
  void phase(std::int32_t phase, double bytes, bool is_captured = false) {
    session().phase_begin(phase, is_captured);
    fake.count(kRead, bytes);
    session().phase_end(is_captured);
  }
  void scope(const char* name, const std::function<void()>& body) {
    session().scope_begin(name);
    body();
    session().scope_end();
  }

  std::vector<std::string> stop() {
    record = {};
    session().stop(record);
    std::vector<std::string> lines;
    for (const event::HardwareCount& count : record.hardware_counts) {
      char value[32];
      std::snprintf(value, sizeof(value), "%g", count.value);
      lines.push_back(std::to_string(count.step) + " " +
                      (count.phase < 0 ? "step" : "phase " + std::to_string(count.phase)) + " " +
                      record.trace.texts.text(count.scope) + " " + record.trace.texts.text(count.name) + " " +
                      std::to_string(count.calls) + " " + value);
    }
    return lines;
  }
  std::string dropped() const {
    std::string text;
    for (const event::DroppedRecords& each : record.dropped_records)
      text += std::to_string(each.count) + " " + each.detail + "\n";
    return text;
  }
  std::string refusal(const std::string& function, CUptiResult result) {
    fake.failing = {{function, result}};
    try {
      CounterSession(FakeProfiler::api(), setting);
    } catch (const Unavailable& reason) {
      return reason.what();
    }
    return "";
  }

  FakeProfiler& fake = FakeProfiler::make();
  CounterSession::Setting setting;
  event::PassRecord record;

 private:
  void SetUp() override { fake.metrics = {{kRead, 0}}; }

  std::optional<CounterSession> session_;
};

TEST_F(CounterSessionTest, StepsAndPhasesHaveTheirCounts) {
  step(0, 10);
  session().step_begin(1);
  phase(0, 3);
  phase(1, 40);
  phase(0, 4);  // again in the same step
  session().step_end();
  EXPECT_THAT(stop(), ElementsAre("0 step  dram__bytes_read.sum 1 11", "0 phase 0  dram__bytes_read.sum 1 10",
                                  "1 step  dram__bytes_read.sum 1 47", "1 phase 0  dram__bytes_read.sum 2 7",
                                  "1 phase 1  dram__bytes_read.sum 1 40"));
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
  EXPECT_THAT(fake.calls, SizeIs(4));
  EXPECT_FALSE(fake.is_enabled);
}

TEST_F(CounterSessionTest, WarmUpStepsAreNotCounted) {
  setting.warmup = 2;
  for (int i = 0; i < 3; ++i) step(i, 10);
  EXPECT_THAT(stop(), ElementsAre("2 step  dram__bytes_read.sum 1 11", "2 phase 0  dram__bytes_read.sum 1 10"));
  EXPECT_THAT(fake.names, ElementsAre("0", "1", "2"));
}

TEST_F(CounterSessionTest, SetsThatDoNotFitTogetherAlternateBetweenSteps) {
  fake.metrics = {{kRead, 0}, {kBf16, 1}, {kFp16, 2}};
  EXPECT_THAT(session().sets(), ElementsAre(ElementsAre(kRead, kBf16), ElementsAre(kFp16)));
  for (int i = 0; i < 3; ++i) {
    session().step_begin(i);
    fake.count(kBf16, 5);
    fake.count(kFp16, 7);
    session().step_end();
  }
  EXPECT_THAT(stop(), ElementsAre("0 step  dram__bytes_read.sum 1 0", std::string("0 step  ") + kBf16 + " 1 5",
                                  std::string("1 step  ") + kFp16 + " 1 7", "2 step  dram__bytes_read.sum 1 0",
                                  std::string("2 step  ") + kBf16 + " 1 5"));
}

TEST_F(CounterSessionTest, AMetricThatNeedsSeveralPassesIsLeftOut) {
  fake.chip = "GA100";
  fake.metrics = {{kRead, 0}, {kBf16, 1}};
  EXPECT_THAT(plan_counters(FakeProfiler::api(), "GA100"), ElementsAre(ElementsAre(kRead, kBf16)));
  ProfilerApi api = FakeProfiler::api();
  api.passes = [](CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
    const std::string_view text(reinterpret_cast<const char*>(p->pConfigImage), p->configImageSize);
    p->numOfPasses = text.find("bf16") == std::string_view::npos ? 1 : 2;
    return CUPTI_SUCCESS;
  };
  EXPECT_THAT(plan_counters(api, "GA100"), ElementsAre(ElementsAre(kRead)));
}

TEST_F(CounterSessionTest, ScopesAreCountedWithinPhases) {
  setting.ranges = measure::CounterRanges::kScope;
  const auto one_step = [&](std::int64_t number) {
    session().step_begin(number);
    scope("before", [&] { fake.count(kRead, 1); });
    session().phase_begin(0, false);
    scope("model", [&] {
      for (int i = 0; i < 2; ++i) scope("layer", [&] { fake.count(kRead, 10); });
      fake.count(kRead, 100);
    });
    session().phase_end(false);
    session().step_end();
  };
  one_step(0);
  EXPECT_THAT(stop(), ElementsAre("0 step  dram__bytes_read.sum 1 121", "0 phase 0  dram__bytes_read.sum 1 120",
                                  "0 phase 0 model dram__bytes_read.sum 1 120",
                                  "0 phase 0 model/layer dram__bytes_read.sum 2 20"));
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
}

TEST_F(CounterSessionTest, ScopesOfOtherThreadsAndThoseThatOutliveTheirPhaseAreNotCountedApart) {
  setting.ranges = measure::CounterRanges::kScope;
  session().step_begin(0);
  session().phase_begin(0, false);
  std::thread([&] { scope("elsewhere", [&] { fake.count(kRead, 1); }); }).join();
  session().scope_begin("long");
  session().phase_end(false);
  session().scope_end();
  session().step_end();
  EXPECT_THAT(stop(), ElementsAre("0 step  dram__bytes_read.sum 1 1", "0 phase 0  dram__bytes_read.sum 1 1"));
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
}

TEST_F(CounterSessionTest, NothingWaitsForTheDeviceWhileItsStreamIsCaptured) {
  setting.ranges = measure::CounterRanges::kScope;
  session().step_begin(0);
  phase(0, 5, true);
  session().phase_begin(0, true);
  scope("captured", [&] {});
  session().phase_end(true);
  session().phase_begin(1, false);  // the capture begins within the phase and outlives it
  session().phase_end(true);
  phase(0, 5);
  session().step_end();
  EXPECT_THAT(stop(), ElementsAre("0 step  dram__bytes_read.sum 1 10"));
  EXPECT_THAT(fake.names, ElementsAre("0", "1"));
}

TEST_F(CounterSessionTest, PortionsGrowWithTheRangesThatAStepNeeds) {
  setting.ranges = measure::CounterRanges::kScope;
  setting.warmup = 1;
  const auto one_step = [&](std::int64_t number) {
    session().step_begin(number);
    session().phase_begin(0, false);
    for (int i = 0; i < 300; ++i) scope("a", [&] { fake.count(kRead, 1); });
    session().phase_end(false);
    session().step_end();
  };
  one_step(0);
  one_step(1);
  EXPECT_THAT(stop(), Contains("1 phase 0 a dram__bytes_read.sum 300 300"));
  EXPECT_EQ(fake.capacity, 1024u);
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
}

TEST_F(CounterSessionTest, RangesBeyondTheCapacityAreDroppedAndCounted) {
  setting.ranges = measure::CounterRanges::kScope;
  session().step_begin(0);
  session().phase_begin(0, false);
  for (int i = 0; i < 600; ++i) scope("a", [&] { fake.count(kRead, 1); });
  session().phase_end(false);
  session().step_end();
  EXPECT_THAT(stop(), Contains("0 step  dram__bytes_read.sum 1 600"));
  EXPECT_THAT(dropped(), HasSubstr("346 phases and scopes beyond the ranges of a portion"));
}

TEST_F(CounterSessionTest, LaterPortionsHaveSeveralSteps) {
  for (int i = 0; i < 60; ++i) step(i, 1);
  EXPECT_THAT(stop(), SizeIs(120));
  EXPECT_LT(fake.calls.size(), 100u);
  EXPECT_GT(fake.calls.size(), 60u);
}

TEST_F(CounterSessionTest, RangesThatAreMissingAreReportedAndMakeWhatContainsThemIncomplete) {
  step(0, 10);
  fake.lost_ranges = 1;  // the rest of the step, after the phase
  step(1, 10);
  EXPECT_THAT(stop(), ElementsAre("0 step  dram__bytes_read.sum 1 11", "0 phase 0  dram__bytes_read.sum 1 10",
                                  "1 phase 0  dram__bytes_read.sum 1 10"));
  EXPECT_THAT(dropped(), HasSubstr("1 ranges that CUPTI did not report, of 6"));
}

TEST_F(CounterSessionTest, AValueThatIsNoNumberIsReported) {
  session().step_begin(0);
  fake.count(kRead, std::numeric_limits<double>::quiet_NaN());
  session().step_end();
  EXPECT_THAT(stop(), IsEmpty());
  EXPECT_THAT(dropped(), HasSubstr("1 counts that are no number"));
}

TEST_F(CounterSessionTest, AStepThatDidNotEndIsNotCounted) {
  step(0, 1);
  session().step_begin(1);
  session().phase_begin(0, false);
  EXPECT_THAT(stop(), SizeIs(2));
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
  EXPECT_FALSE(fake.is_enabled);
}

TEST_F(CounterSessionTest, AFailureEndsCountingButNotTheSteps) {
  for (const char* function : {"push", "pop", "start", "stop", "decode", "evaluate"}) {
    fake = {};
    fake.metrics = {{kRead, 0}};
    CounterSession counting(FakeProfiler::api(), {});
    const auto one_step = [&](std::int64_t number) {
      counting.step_begin(number);
      counting.phase_begin(0, false);
      fake.count(kRead, 1);
      counting.phase_end(false);
      counting.step_end();
    };
    one_step(0);
    fake.failing = {{function, CUPTI_ERROR_UNKNOWN}};
    one_step(1);
    one_step(2);
    record = {};
    counting.stop(record);
    EXPECT_THAT(record.hardware_counts, SizeIs(2)) << function;
    EXPECT_THAT(record.dropped_records, SizeIs(1)) << function;
    EXPECT_THAT(dropped(), HasSubstr("CUPTI_ERROR_UNKNOWN")) << function;
    EXPECT_FALSE(fake.is_enabled) << function;
  }
}

TEST_F(CounterSessionTest, RefusalsNameTheReasonAndWhatToDo) {
  EXPECT_THAT(refusal("availability", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES),
              AllOf(HasSubstr("no permission"), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
  EXPECT_THAT(refusal("availability", CUPTI_ERROR_HARDWARE_BUSY),
              AllOf(HasSubstr("another process"), HasSubstr("dcgmi profiling --pause")));
  EXPECT_THAT(refusal("host_initialize", CUPTI_ERROR_INVALID_PARAMETER),
              AllOf(HasSubstr("'FAKE'"), HasSubstr("newer CUPTI")));
  EXPECT_THAT(refusal("initialize", CUPTI_ERROR_UNKNOWN), HasSubstr("kymo doctor"));
  EXPECT_EQ(refusal("none", CUPTI_SUCCESS), "");
}

TEST_F(CounterSessionTest, ABusyGpuIsReportedOnceWhenCountingBegins) {
  fake.failing = {{"enable", CUPTI_ERROR_HARDWARE_BUSY}};
  step(0, 1);
  step(1, 1);
  EXPECT_THAT(stop(), IsEmpty());
  EXPECT_THAT(record.dropped_records, SizeIs(1));
  EXPECT_THAT(dropped(), HasSubstr("another process"));
}

class ClockTest : public CounterSessionTest {
 protected:
  static constexpr std::int64_t kIdle = 0x1;
  static constexpr std::int64_t kPowerCap = 0x4;

  void run(std::int64_t before_mhz, std::int64_t during_mhz, std::int64_t reasons = 0) {
    clock = before_mhz;
    setting.warmup = 1;
    setting.read_clocks = [this] {
      event::GpuSample reading;
      reading.sm_clock_mhz = clock;
      reading.memory_clock_mhz = 2619;
      reading.throttle_reasons = throttle_reasons;
      return reading;
    };
    step(0, 1);
    clock = during_mhz;
    throttle_reasons = reasons;
    for (int i = 1; i < 5; ++i) step(i, 1);
  }

  std::int64_t clock = 0;
  std::int64_t throttle_reasons = 0;
};

TEST_F(ClockTest, SteadyClocksAreNoError) {
  run(1980, 1965);
  stop();
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
}

TEST_F(ClockTest, ALockedClockIsAnErrorOfThePass) {
  try {
    run(1980, 1590);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("1980 MHz"), HasSubstr("1590 MHz meanwhile")));
  }
}

TEST_F(ClockTest, AClockThatStaysLowAfterwardsIsReported) {
  run(1980, 1980);
  clock = 1590;
  stop();
  EXPECT_THAT(dropped(), HasSubstr("1590 MHz afterwards"));
}

TEST_F(ClockTest, AThrottledGpuSaysNothing) {
  run(1980, 1590, kPowerCap);
  throttle_reasons = kIdle;
  clock = 345;
  stop();
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped();
}

// With CUPTI itself, which plans without a driver.
TEST(CounterPlan, FitsTheFirstSetsOfKnownChipsIntoOnePass) {
#if CUPTI_API_VERSION >= 130200
  GTEST_SKIP() << "this CUPTI needs a driver";
#endif
  require_profiler_libraries();
  const ProfilerApi api;
  const auto hopper = plan_counters(api, "GH100");
  ASSERT_THAT(hopper, SizeIs(3));
  EXPECT_THAT(hopper[0], AllOf(Contains(kRead), Contains(kWritten), Contains("sm__pipe_tensor_cycles_active.sum"),
                               Contains("sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum"),
                               Contains("sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum"),
                               Contains("sm__ops_path_tensor_src_fp8_sparsity_off.sum")));
  EXPECT_THAT(hopper[1], AllOf(Contains("sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off.sum"),
                               Contains("sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32_sparsity_off.sum")));
  for (const char* chip : {"GA100", "AD102", "GB100", "TU102"}) {
    for (const auto& set : plan_counters(api, chip)) EXPECT_EQ(CounterSet(api, chip, set).passes(), 1u) << chip;
    EXPECT_THAT(plan_counters(api, chip)[0], AllOf(Contains(kRead), Contains(kWritten))) << chip;
  }
  EXPECT_THROW(plan_counters(api, "XX999"), Unavailable);
}

}  // namespace
}  // namespace kymo::collect

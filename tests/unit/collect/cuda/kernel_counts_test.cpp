// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/kernel_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "collect/cuda/counter_session.hpp"
#include "unit/collect/cuda/fake_profiler.hpp"

namespace kymo::collect {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> lines_of(const event::PassRecord& record) {
  std::vector<std::string> lines;
  for (const event::KernelCount& count : record.kernel_counts) {
    char value[32];
    std::snprintf(value, sizeof(value), "%g", count.value);
    lines.push_back(std::to_string(count.launch) + " phase " + std::to_string(count.phase) + " " +
                    record.trace.texts.text(count.kernel) + " " + record.trace.texts.text(count.name) + " " +
                    std::to_string(count.steps) + " " + value);
  }
  return lines;
}

std::string dropped_of(const event::PassRecord& record) {
  std::string text;
  for (const event::DroppedRecords& each : record.dropped_records)
    text += std::to_string(each.count) + " " + each.detail + "\n";
  return text;
}

TEST(KernelCounts, AddsUpStepsWithTheSameKernelsInTheSameOrder) {
  KernelCounts counts;
  counts.add(3, {{"a", 0}, {"b", 1}, {"a", 1}}, {kRead}, {{1}, {2}, {3}});
  counts.add(4, {{"a", 0}, {"b", 1}, {"a", 1}}, {kBf16}, {{10}, {20}, {30}});
  counts.add(5, {{"a", 0}, {"b", 1}, {"a", 1}}, {kRead}, {{5}, {5}, {5}});
  event::PassRecord record;
  counts.take(record, "source");
  EXPECT_THAT(lines_of(record),
              ElementsAre(std::string("0 phase 0 a ") + kRead + " 2 6", std::string("0 phase 0 a ") + kBf16 + " 1 10",
                          std::string("1 phase 1 b ") + kRead + " 2 7", std::string("1 phase 1 b ") + kBf16 + " 1 20",
                          std::string("2 phase 1 a ") + kRead + " 2 8", std::string("2 phase 1 a ") + kBf16 + " 1 30"));
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

TEST(KernelCounts, StepsWithOtherKernelsAreDroppedAndNamed) {
  KernelCounts counts;
  counts.add(3, {{"a", 0}, {"c", 0}}, {kRead}, {{1}, {1}});
  counts.add(4, {{"a", 0}, {"b", 0}}, {kRead}, {{2}, {3}});
  counts.add(5, {{"a", 0}, {"b", 0}}, {kRead}, {{2}, {3}});
  counts.add(6, {{"a", 0}}, {kRead}, {{2}});
  counts.add(7, {{"a", 1}, {"b", 0}}, {kRead}, {{2}, {3}});
  event::PassRecord record;
  counts.take(record, "source");
  EXPECT_THAT(lines_of(record),
              ElementsAre(std::string("0 phase 0 a ") + kRead + " 2 4", std::string("1 phase 0 b ") + kRead + " 2 6"));
  EXPECT_THAT(dropped_of(record),
              AllOf(HasSubstr("other kernels than step 4: in step 3, kernel 1 is 'c' instead of 'b'"),
                    HasSubstr("in step 6, kernel 1 is none instead of 'b'"),
                    HasSubstr("in step 7, kernel 0 is in another phase")));
}

TEST(KernelCounts, AMetricThatIsNoNumberIsNotCountedInItsStep) {
  KernelCounts counts;
  counts.add(3, {{"a", 0}}, {kRead, kBf16}, {{std::numeric_limits<double>::quiet_NaN(), 4}});
  event::PassRecord record;
  counts.take(record, "source");
  EXPECT_THAT(lines_of(record), ElementsAre(std::string("0 phase 0 a ") + kBf16 + " 1 4"));
}

TEST(KernelCounts, WithoutStepsThereIsNothing) {
  event::PassRecord record;
  KernelCounts().take(record, "source");
  EXPECT_THAT(record.kernel_counts, IsEmpty());
  EXPECT_THAT(record.dropped_records, IsEmpty());
}

class KernelRangesTest : public testing::Test {
 protected:
  CounterSession& session() {
    if (!session_) session_.emplace(FakeProfiler::api(), setting);
    return *session_;
  }
  void launch(const char* symbol, double bytes, double operations = 0) {
    session().kernel_launched(symbol);
    fake.run_kernel({{kRead, bytes}, {kBf16, operations}, {kFp16, operations}});
  }
  void step(std::int64_t number, double bytes) {
    session().step_begin(number);
    launch("_Z5firstv", 1);
    session().phase_begin(2, false);
    launch("second", bytes, 8);
    session().phase_end(false);
    session().step_end();
  }
  void stop() { session().stop(record); }
  std::vector<std::string> step_counts() const {
    std::vector<std::string> lines;
    for (const event::HardwareCount& count : record.hardware_counts) {
      char value[32];
      std::snprintf(value, sizeof(value), "%g", count.value);
      lines.push_back(std::to_string(count.step) + " " + std::to_string(count.phase) + " " +
                      record.trace.texts.text(count.name) + " " + value);
    }
    return lines;
  }

  FakeProfiler& fake = FakeProfiler::make();
  CounterSession::Setting setting{.ranges = measure::CounterRanges::kKernel};
  event::PassRecord record;

 private:
  void SetUp() override { fake.metrics = {{kRead, 0}}; }

  std::optional<CounterSession> session_;
};

TEST_F(KernelRangesTest, KernelsPhasesAndStepsHaveTheirCounts) {
  step(0, 10);
  step(1, 20);
  stop();
  EXPECT_THAT(lines_of(record), ElementsAre(std::string("0 phase -1 first() ") + kRead + " 2 2",
                                            std::string("1 phase 2 second ") + kRead + " 2 30"));
  EXPECT_THAT(step_counts(), ElementsAre("0 -1 dram__bytes_read.sum 11", "0 2 dram__bytes_read.sum 10",
                                         "1 -1 dram__bytes_read.sum 21", "1 2 dram__bytes_read.sum 20"));
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped_of(record);
  EXPECT_THAT(fake.calls, SizeIs(4)) << "a portion for each step";
  EXPECT_THAT(fake.names, IsEmpty());
  EXPECT_FALSE(fake.is_enabled);
}

TEST_F(KernelRangesTest, SetsAlternateBetweenSteps) {
  fake.metrics = {{kRead, 0}, {kBf16, 1}, {kFp16, 2}};
  for (int i = 0; i < 3; ++i) step(i, 10);
  stop();
  EXPECT_THAT(lines_of(record), testing::IsSupersetOf({std::string("1 phase 2 second ") + kBf16 + " 2 16",
                                                       std::string("1 phase 2 second ") + kFp16 + " 1 8",
                                                       std::string("1 phase 2 second ") + kRead + " 2 20"}));
}

TEST_F(KernelRangesTest, AStepWithAnotherNumberOfRangesThanLaunchesIsNotCounted) {
  step(0, 10);
  session().step_begin(1);
  launch("second", 10);
  session().kernel_launched("never ran");
  session().step_end();
  stop();
  EXPECT_THAT(step_counts(), SizeIs(2));
  EXPECT_THAT(lines_of(record), SizeIs(2));
  EXPECT_THAT(dropped_of(record), HasSubstr("1 steps not counted by kernel, because CUPTI counted 1 kernels of 2 that "
                                            "were launched in step 1"));
}

TEST_F(KernelRangesTest, WarmUpStepsTellHowManyKernelsAStepHas) {
  setting.warmup = 1;
  for (int i = 0; i < 2; ++i) {
    session().step_begin(i);
    for (int kernel = 0; kernel < 3000; ++kernel) launch("k", 1);
    session().step_end();
  }
  stop();
  EXPECT_EQ(fake.capacity, 4096u);
  EXPECT_THAT(lines_of(record), SizeIs(3000));
  EXPECT_THAT(record.dropped_records, IsEmpty()) << dropped_of(record);
}

TEST_F(KernelRangesTest, ACudaGraphOfAWarmUpStepIsRefusedBeforeCountingStarts) {
  for (const bool is_captured : {false, true}) {
    fake = {};
    fake.metrics = {{kRead, 0}};
    setting.warmup = 1;
    CounterSession counting(FakeProfiler::api(), setting);
    for (int i = 0; i < 3; ++i) {
      counting.step_begin(i);
      counting.phase_begin(0, is_captured);
      if (!is_captured) counting.graph_launched();
      counting.phase_end(is_captured);
      counting.step_end();
    }
    record = {};
    counting.stop(record);
    EXPECT_THAT(record.hardware_counts, IsEmpty());
    EXPECT_THAT(fake.calls, IsEmpty());
    EXPECT_THAT(record.dropped_records, SizeIs(1));
    EXPECT_THAT(dropped_of(record), AllOf(HasSubstr("CUDA graphs"), HasSubstr("--counter-ranges phase")));
  }
}

TEST_F(KernelRangesTest, ACudaGraphThatIsLaunchedLaterEndsCounting) {
  step(0, 10);
  session().step_begin(1);
  session().graph_launched();
  session().step_end();
  step(2, 10);
  stop();
  EXPECT_THAT(fake.calls, SizeIs(4)) << "no third portion";
  EXPECT_THAT(dropped_of(record), HasSubstr("CUDA graphs"));
}

}  // namespace
}  // namespace kymo::collect

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/derive.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::HostWork;

constexpr std::uint32_t kMainThread = 0, kBackwardThread = 1;

/// A pass with steps, phases and scopes on the host clock, and work on a GPU that was launched at given times.
class Pass {
 public:
  event::PassRecord record;

  Pass() { record.trace.phases = {"forward", "backward", "optimizer", "data_loading"}; }

  void step(std::int64_t number, std::int64_t start_ns, std::int64_t end_ns, bool warmup = false) {
    event::Sample sample;
    sample.step = number;
    sample.phase = event::kWholeStep;
    sample.warmup = warmup;
    sample.start_ns = start_ns;
    sample.host_ns = end_ns - start_ns;
    record.samples.push_back(sample);
  }
  void phase(std::int32_t phase, std::int64_t start_ns, std::int64_t end_ns) {
    range(record.trace.phases[static_cast<std::size_t>(phase)], "", start_ns, end_ns, kMainThread).is_phase = true;
    record.trace.ranges.back().phase = phase;
  }
  void scope(const std::string& path, std::int64_t start_ns, std::int64_t end_ns, std::uint32_t thread = kMainThread) {
    range(path.substr(path.rfind('/') + 1), path, start_ns, end_ns, thread);
  }
  void op(std::int64_t start_ns, std::int64_t end_ns) {
    event::Operator call;
    call.name = record.trace.texts.intern("aten::mul");
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    record.trace.operators.push_back(call);
  }
  event::Activity& work(std::int64_t launch_ns, std::int64_t start_ns, std::int64_t end_ns, std::int32_t phase = 0,
                        std::uint32_t thread = kMainThread) {
    event::Launch launch;
    launch.correlation_id = static_cast<std::uint32_t>(record.trace.launches.size()) + 1;
    launch.time_ns = launch_ns;
    launch.position.thread = thread;
    record.trace.launches.push_back(launch);
    event::Activity activity;
    activity.correlation_id = launch.correlation_id;
    activity.start_ns = start_ns;
    activity.end_ns = end_ns;
    activity.phase = phase;
    activity.name = record.trace.texts.intern("kernel");
    record.trace.activities.push_back(activity);
    return record.trace.activities.back();
  }

  /// Idle time by phase (-1: none), scope and activity of the host.
  std::map<std::tuple<std::int32_t, std::string, HostWork>, std::int64_t> idle() const {
    std::map<std::tuple<std::int32_t, std::string, HostWork>, std::int64_t> result;
    for (const event::IdleTotal& total : idle_totals(record))
      result[{total.phase, record.trace.texts.text(total.scope), total.activity}] += total.total_ns;
    return result;
  }

 private:
  event::Range& range(const std::string& name, const std::string& path, std::int64_t start_ns, std::int64_t end_ns,
                      std::uint32_t thread) {
    event::Range range;
    range.name = record.trace.texts.intern(name);
    if (!path.empty()) range.path = record.trace.texts.intern(path);
    range.start_ns = start_ns;
    range.end_ns = end_ns;
    range.thread = thread;
    record.trace.ranges.push_back(range);
    return record.trace.ranges.back();
  }
};

TEST(IdleTotals, AreEmptyWithoutRecordedWorkAndWithoutMeasuredSteps) {
  Pass pass;
  pass.step(0, 0, 100);
  EXPECT_TRUE(pass.idle().empty());
  Pass warmup;
  warmup.step(0, 0, 100, true);
  warmup.work(10, 20, 30);
  EXPECT_TRUE(warmup.idle().empty());
}

TEST(IdleTotals, DivideAGapByTheScopesOfTheLaunchingThreadAndByTheLaunch) {
  Pass pass;
  pass.step(0, 0, 200);
  pass.phase(3, 0, 40);    // a loader
  pass.phase(0, 40, 200);  // forward
  pass.scope("Model", 50, 200);
  pass.scope("Model/decay", 60, 150);
  pass.work(0, 0, 10);
  pass.work(70, 80, 100);
  pass.work(90, 110, 200);
  EXPECT_EQ(pass.idle(), (std::map<std::tuple<std::int32_t, std::string, HostWork>, std::int64_t>{
                             {{3, "", HostWork::kHostCode}, 30},             // 10 to 40
                             {{0, "", HostWork::kHostCode}, 10},             // 40 to 50
                             {{0, "Model", HostWork::kHostCode}, 10},        // 50 to 60
                             {{0, "Model/decay", HostWork::kHostCode}, 10},  // 60 to 70
                             {{0, "", HostWork::kLaunch}, 20},  // 70 to 80, and 100 to 110: launched before the gap
                         }));
}

TEST(IdleTotals, OfABackwardThreadBelongToTheScopeOfTheWorkIfThePhaseIsThatOfTheWork) {
  Pass pass;
  pass.step(0, 0, 100);
  pass.phase(0, 0, 40);
  pass.phase(1, 40, 100);
  pass.work(0, 0, 20);
  pass.work(50, 50, 100, 1, kBackwardThread).scope = pass.record.trace.texts.intern("Model/head");
  const auto idle = pass.idle();
  EXPECT_EQ((idle.at({0, "", HostWork::kHostCode})), 20);            // forward had not ended
  EXPECT_EQ((idle.at({1, "Model/head", HostWork::kHostCode})), 10);  // 40 to 50
  EXPECT_EQ(idle.size(), 2u);
}

TEST(IdleTotals, TellOperatorsAndCompilationsFromOtherHostCode) {
  Pass pass;
  pass.step(0, 0, 100);
  pass.work(0, 0, 10);
  pass.op(20, 30);
  event::Compilation compilation;
  compilation.start_ns = 40;
  compilation.duration_ns = 25;
  pass.record.compilations.push_back(compilation);
  pass.work(80, 80, 100, -1);
  const auto idle = pass.idle();
  EXPECT_EQ((idle.at({-1, "", HostWork::kOperator})), 10);
  EXPECT_EQ((idle.at({-1, "", HostWork::kCompilation})), 25);
  EXPECT_EQ((idle.at({-1, "", HostWork::kHostCode})), 35);
}

TEST(IdleTotals, AddUpToTheIdleTimeOfTheMeasuredStepsAndCountEachGapOnce) {
  Pass pass;
  pass.step(0, 0, 100, true);
  pass.step(1, 100, 200);
  pass.step(2, 200, 300);
  pass.phase(0, 100, 300);
  pass.scope("A", 100, 145);
  pass.scope("B", 145, 300);
  pass.work(10, 50, 90);  // the gap before it is that of a warm-up step
  pass.work(140, 150, 180);
  pass.work(190, 190, 250);
  const auto totals = idle_totals(pass.record);
  const auto sum = [&](auto member) {
    return std::accumulate(totals.begin(), totals.end(), std::int64_t{0},
                           [&](std::int64_t total, const event::IdleTotal& each) { return total + each.*member; });
  };
  EXPECT_EQ(sum(&event::IdleTotal::total_ns), 50 + 10 + 50);
  EXPECT_EQ(sum(&event::IdleTotal::gaps), 3);
  for (const event::IdleTotal& each : totals) EXPECT_EQ(each.steps, 2);
}

TEST(IdleTotals, TellWhichGapsBeganWhenACopyToTheHostEnded) {
  Pass pass;
  pass.step(0, 0, 100);
  pass.work(0, 0, 10).kind = event::ActivityKind::kMemcpy;
  pass.record.trace.activities.back().name = pass.record.trace.texts.intern("memcpy device to host");
  pass.work(25, 30, 40).kind = event::ActivityKind::kMemcpy;
  pass.record.trace.activities.back().name = pass.record.trace.texts.intern("memcpy host to device");
  pass.work(60, 60, 100);
  std::int64_t after_copy_ns = 0;
  for (const event::IdleTotal& each : idle_totals(pass.record)) after_copy_ns += each.after_copy_ns;
  EXPECT_EQ(after_copy_ns, 20);
}

TEST(IdleTotals, IgnoreTheRangesOfGeneratedKernels) {
  Pass pass;
  pass.step(0, 0, 100);
  pass.scope("Model", 0, 100);
  pass.scope("Model/triton_fused_0 {norm}", 20, 60);
  pass.work(0, 0, 10);
  pass.work(80, 80, 100);
  EXPECT_EQ((pass.idle().at({-1, "Model", HostWork::kHostCode})), 70);
}

}  // namespace
}  // namespace kymo::analysis

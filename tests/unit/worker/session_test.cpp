// SPDX-License-Identifier: Apache-2.0
#include "worker/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "unit/worker/fake_collector.hpp"
#include "unit/worker/fake_control.hpp"
#include "unit/worker/fake_workload.hpp"

namespace kymo::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::int64_t kHeadStartNs = 3'000'000'000;

class FakeEnvironment final : public WorkerEnvironment {
 public:
  const kymo_plugin& plugin(const measure::protocol::Assignment& assignment) override {
    const std::string& file = assignment.what.plugin_file;
    if (file != "/fake.so") throw Error("no plugin " + file);
    return workload.plugin();
  }
  Observers observers(measure::Pass, measure::DeviceKind, bool) override { return {{{&collector, nullptr}}, {}, {}}; }
  event::Device device(measure::DeviceKind kind, int index) override {
    devices.emplace_back(kind, index);
    if (!device_reason.empty()) throw collect::Unavailable(device_reason);
    event::Device device;
    device.uuid = "CPU-1";
    return device;
  }
  void store(const measure::protocol::Assignment& assignment, const event::PassRecord& record) override {
    if (!store_error.empty()) throw Error(store_error);
    stored.push_back(record);
    runs.push_back(assignment.run_id);
  }
  void flush_output() override { ++flushes; }

  FakeWorkload workload;
  std::vector<std::string> log;
  FakeCollector collector{&log};
  std::string device_reason;
  std::string store_error;
  std::vector<event::PassRecord> stored;
  std::vector<std::int64_t> runs;
  int flushes = 0;
  std::vector<std::pair<measure::DeviceKind, int>> devices;
};

class SessionTest : public testing::Test {
 protected:
  /// In a process that started some time ago.
  void serve() { Session(control, environment, now_ns() - kHeadStartNs).serve(); }
  FakeControl control;
  FakeEnvironment environment;
};

TEST_F(SessionTest, ExitsWithoutWork) {
  serve();
  EXPECT_TRUE(control.outcomes.empty());
}

TEST_F(SessionTest, StoresAndThenReports) {
  control.assignments = {fake_assignment()};
  serve();
  ASSERT_EQ(control.outcomes.size(), 1u);
  EXPECT_EQ(control.outcomes[0].status, RunStatus::kOk);
  ASSERT_EQ(environment.stored.size(), 1u);
  EXPECT_EQ(environment.stored[0].device.uuid, "CPU-1");
  EXPECT_EQ(control.progress.front().stage, "load");
  EXPECT_EQ(control.progress.back().stage, "write");
}

TEST_F(SessionTest, DescribesTheDeviceThatItWasAssigned) {
  auto assignment = fake_assignment();
  assignment.local_rank = 1;
  assignment.device_index = 3;
  control.assignments.push_back(assignment);
  assignment.what.device = measure::DeviceKind::kCuda;
  control.assignments.push_back(assignment);
  serve();
  EXPECT_THAT(environment.devices,
              ElementsAre(Pair(measure::DeviceKind::kCpu, 0), Pair(measure::DeviceKind::kCuda, 3)));
}

TEST_F(SessionTest, IsUsedAgainAndResetInBetween) {
  auto second = fake_assignment();
  second.run_id = 8;
  second.method.warmup = 0;
  second.method.steps = 1;
  control.assignments = {fake_assignment(), second};
  serve();
  EXPECT_THAT(environment.runs, ElementsAre(7, 8));
  EXPECT_EQ(environment.stored[1].samples.size(), 1u) << "nothing of the first run";
  EXPECT_EQ(environment.workload.count("create"), 2);
  EXPECT_EQ(environment.workload.count("destroy"), 2);
  EXPECT_EQ(environment.flushes, 2) << "output belongs to the run that wrote it";
  const auto reset = std::find(environment.log.begin(), environment.log.end(), "reset");
  ASSERT_NE(reset, environment.log.end());
  EXPECT_EQ(*(reset - 1), "disarm");
  EXPECT_EQ(*(reset + 1), "arm");
}

TEST_F(SessionTest, MarksTheEndsOfItsStages) {
  environment.workload.on_prepare = [](const FakeHost& host) {
    host.host->mark(host.context, "its own");
    return KYMO_OK;
  };
  control.assignments = {fake_assignment()};
  serve();
  std::vector<std::string> names;
  std::int64_t before_ns = 0;
  for (const event::Mark& mark : environment.stored[0].marks) {
    names.push_back(mark.name);
    EXPECT_EQ(mark.step, -1);
    EXPECT_GE(mark.time_ns, before_ns);
    before_ns = mark.time_ns;
  }
  EXPECT_THAT(names, ElementsAre("worker: assigned", "worker: plugin loaded", "worker: collectors armed",
                                 "worker: created", "its own", "worker: prepared"));
  EXPECT_GE(environment.stored[0].samples[0].start_ns, before_ns);
}

TEST_F(SessionTest, TimesCountFromTheProcessAndInAReusedWorkerFromTheAssignment) {
  control.assignments = {fake_assignment(), fake_assignment()};
  serve();
  EXPECT_GE(environment.stored[0].marks[0].time_ns, kHeadStartNs);
  EXPECT_GE(environment.stored[0].samples[0].start_ns, kHeadStartNs);
  EXPECT_EQ(environment.stored[1].marks[0].time_ns, 0);
}

TEST_F(SessionTest, AStageThatFailedHasNoMark) {
  environment.workload.on_prepare = [](const FakeHost& host) { return host.fail(KYMO_FAILED, "no"); };
  control.assignments = {fake_assignment()};
  serve();
  EXPECT_EQ(environment.stored[0].marks.back().name, "worker: created");
}

TEST_F(SessionTest, AFailureIsStoredAndDoesNotEndTheWorker) {
  environment.workload.on_step = [&](const FakeHost& host) {
    return environment.workload.count("step") == 2 ? host.fail(KYMO_FAILED, "once") : static_cast<kymo_status>(KYMO_OK);
  };
  control.assignments = {fake_assignment(), fake_assignment()};
  serve();
  ASSERT_EQ(control.outcomes.size(), 2u);
  EXPECT_EQ(control.outcomes[0].status, RunStatus::kFailed);
  EXPECT_EQ(control.outcomes[1].status, RunStatus::kOk);
  EXPECT_EQ(environment.stored[0].samples.size(), 1u);
}

TEST_F(SessionTest, AMissingPluginIsAnOutcome) {
  auto assignment = fake_assignment();
  assignment.what.plugin_file = "/gone.so";
  control.assignments = {assignment};
  serve();
  EXPECT_EQ(control.outcomes[0].status, RunStatus::kFailed);
  EXPECT_EQ(control.outcomes[0].stage, "load");
  EXPECT_THAT(control.outcomes[0].detail, HasSubstr("/gone.so"));
}

TEST_F(SessionTest, AFullDiskIsAnOutcome) {
  environment.store_error = "no space left on device";
  control.assignments = {fake_assignment()};
  serve();
  EXPECT_EQ(control.outcomes[0].status, RunStatus::kFailed);
  EXPECT_EQ(control.outcomes[0].stage, "write");
  EXPECT_THAT(control.outcomes[0].detail, HasSubstr("no space"));
}

TEST_F(SessionTest, TheFirstFailureIsTheOneReported) {
  environment.store_error = "no space left on device";
  environment.workload.on_prepare = [](const FakeHost& host) { return host.fail(KYMO_FAILED, "the cause"); };
  control.assignments = {fake_assignment()};
  serve();
  EXPECT_EQ(control.outcomes[0].detail, "the cause");
}

TEST_F(SessionTest, OneOfSeveralRanksTellsWhenItFailed) {
  std::int64_t thrown_ns = 0;
  std::int64_t destroyed_ns = 0;
  environment.workload.on_prepare = [&](const FakeHost& host) {
    thrown_ns = now_ns();
    return host.fail(KYMO_FAILED, "the cause");
  };
  environment.workload.on_destroy = [&] { destroyed_ns = now_ns(); };
  auto assignment = fake_assignment();
  control.assignments = {assignment};
  assignment.what.ranks = 2;
  control.assignments.push_back(assignment);
  serve();
  EXPECT_EQ(control.outcomes[0].failed_ns, -1) << "there is no other that may be the cause";
  EXPECT_GE(control.outcomes[1].failed_ns, thrown_ns);
  EXPECT_LE(control.outcomes[1].failed_ns, destroyed_ns) << "of what is gone then the others fail";
}

TEST_F(SessionTest, AnUnknownDeviceIsADroppedRecord) {
  environment.device_reason = "no GPU 3";
  control.assignments = {fake_assignment()};
  serve();
  EXPECT_EQ(control.outcomes[0].status, RunStatus::kOk);
  ASSERT_EQ(environment.stored[0].dropped_records.size(), 1u);
  EXPECT_EQ(environment.stored[0].dropped_records[0].source, "device");
}

TEST_F(SessionTest, EndsWithItsSupervisor) {
  control.lost_at_stage = "prepare";
  control.assignments = {fake_assignment()};
  EXPECT_THROW(serve(), ConnectionLost);
  EXPECT_TRUE(environment.stored.empty());
}

}  // namespace
}  // namespace kymo::worker

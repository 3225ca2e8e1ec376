// SPDX-License-Identifier: Apache-2.0
// A session with a real plugin file and a real rank file; only the supervisor is simulated.
#include "worker/installed_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "unit/worker/fake_control.hpp"
#include "worker/session.hpp"

namespace kymo::worker {
namespace {

using testing::HasSubstr;

const std::string kPlugin = std::string(KYMO_BINARY_DIR) + "/lib/kymo/plugins/saxpy.so";

class InstalledEnvironmentTest : public testing::Test {
 protected:
  InstalledEnvironmentTest() : folder_(make_private_folder("kymo-worker-test")) {}
  ~InstalledEnvironmentTest() override { std::filesystem::remove_all(folder_); }

  measure::protocol::Assignment assignment(measure::Pass pass) const {
    auto made = fake_assignment(pass);
    made.what.plugin_file = kPlugin;
    made.what.workload = "saxpy";
    made.what.parameters = {{"n", std::int64_t{1000}}, {"precision", std::string("fp64")}};
    made.rank_file = (folder_ / (std::string(measure::to_string(pass)) + ".kymo")).string();
    return made;
  }
  void serve() { Session(control_, environment_, now_ns()).serve(); }

  std::filesystem::path folder_;
  FakeControl control_;
  InstalledEnvironment environment_;
};

TEST_F(InstalledEnvironmentTest, VerifiesAndTimesAPluginFile) {
  control_.assignments = {assignment(measure::Pass::kVerify), assignment(measure::Pass::kTime)};
  serve();
  ASSERT_EQ(control_.outcomes.size(), 2u);
  EXPECT_EQ(control_.outcomes[0].status, RunStatus::kOk) << control_.outcomes[0].detail;
  EXPECT_EQ(control_.outcomes[0].verification, event::CheckOutcome::kPassed);
  EXPECT_EQ(control_.outcomes[1].status, RunStatus::kOk) << control_.outcomes[1].detail;
  for (const char* file : {"verify.kymo", "time.kymo"})
    EXPECT_EQ(read_file(folder_ / file).substr(0, 15), "SQLite format 3") << file;
}

TEST_F(InstalledEnvironmentTest, AnUnwritableRankFileIsAnOutcome) {
  auto lost = assignment(measure::Pass::kTime);
  lost.rank_file = (folder_ / "no" / "such" / "folder" / "time.kymo").string();
  control_.assignments = {lost};
  serve();
  ASSERT_EQ(control_.outcomes.size(), 1u);
  EXPECT_EQ(control_.outcomes[0].status, RunStatus::kFailed);
  EXPECT_EQ(control_.outcomes[0].stage, "write");
}

TEST_F(InstalledEnvironmentTest, OneWorkerTakesOnePluginFile) {
  auto first = assignment(measure::Pass::kTime);
  environment_.plugin(first);
  EXPECT_NO_THROW(environment_.plugin(first));
  first.what.plugin_file = "/another.so";
  EXPECT_THROW(environment_.plugin(first), Error);
}

TEST_F(InstalledEnvironmentTest, ARunOnTheCpuHasNoCollectors) {
  const Observers observers = environment_.observers(measure::Pass::kTime, measure::DeviceKind::kCpu, true);
  EXPECT_TRUE(observers.all.empty());
  EXPECT_TRUE(observers.dropped_records.empty());
  EXPECT_EQ(environment_.device(measure::DeviceKind::kCpu, 0).kind, "cpu");
}

TEST_F(InstalledEnvironmentTest, AModuleThatCannotBeLoadedIsADroppedRecord) {
  std::ofstream(folder_ / "absent.json")
      << R"({"device": "cuda", "needs_torch": false, "passes": ["time"], "order": 0})";
  InstalledEnvironment environment(folder_);
  const Observers observers = environment.observers(measure::Pass::kTime, measure::DeviceKind::kCuda, true);
  EXPECT_TRUE(observers.all.empty());
  ASSERT_EQ(observers.dropped_records.size(), 1u);
  EXPECT_EQ(observers.dropped_records[0].source, "absent");
  EXPECT_THAT(observers.dropped_records[0].detail, HasSubstr("cannot load the module"));
  EXPECT_THROW(environment.device(measure::DeviceKind::kCuda, 0), collect::Unavailable);
}

class EnvironmentUnderAnotherTorch : public InstalledEnvironmentTest {
 protected:
  EnvironmentUnderAnotherTorch() {
    std::filesystem::create_directory(folder_ / "torch-2.1");
    declare("operators", true, R"(["ops", "memory"])");
    declare("torch-2.1/operators", true, R"(["ops", "memory"])");
    declare("faults", false, R"(["time"])");
  }
  void declare(const std::string& name, bool needs_torch, const std::string& passes) const {
    write_file(folder_ / (name + ".json"), R"({"device": "any", "needs_torch": )" +
                                               std::string(needs_torch ? "true" : "false") + R"(, "passes": )" +
                                               passes + R"(, "order": 0})");
  }
  /// For a workload in Python under this version.
  Observers observers(const std::string& torch_version, measure::Pass pass, bool uses_torch = true) {
    InstalledEnvironment environment(folder_);
    auto described = assignment(pass);
    described.plugin_description = R"({"framework_version": ")" + torch_version + R"("})";
    environment.plugin(described);
    return environment.observers(pass, measure::DeviceKind::kCpu, uses_torch);
  }
};

TEST_F(EnvironmentUnderAnotherTorch, UsesTheModulesOfThatVersion) {
  const Observers found = observers("2.1.3", measure::Pass::kOps);
  ASSERT_EQ(found.dropped_records.size(), 1u);  // the module itself does not exist
  EXPECT_THAT(found.dropped_records[0].detail, HasSubstr("torch-2.1/operators.so"));
  EXPECT_TRUE(found.warnings.empty());
}

TEST_F(EnvironmentUnderAnotherTorch, WithoutModulesAPassThatNeedsThemHasOneWarning) {
  const std::string own = build_torch_version();  // empty in a build without LibTorch
  const std::string versions = own.empty() ? "2.1" : "2.1, " + own.substr(0, own.rfind('.'));
  for (const char* version : {"2.99.0", "2.1.3.dev20261101", "2.1.0a0"}) {
    const Observers found = observers(version, measure::Pass::kOps);
    EXPECT_TRUE(found.dropped_records.empty()) << version << ": a module was loaded";
    ASSERT_EQ(found.warnings.size(), 1u) << version;
    EXPECT_EQ(found.warnings[0].kind, "torch version");
    EXPECT_THAT(found.warnings[0].detail, HasSubstr(std::string("under torch ") + version + ";"));
    EXPECT_THAT(found.warnings[0].detail, testing::EndsWith("releases of torch " + versions));
  }
  EXPECT_EQ(observers("2.99.0", measure::Pass::kMemory).warnings[0].detail,
            observers("2.99.0", measure::Pass::kOps).warnings[0].detail)
      << "several passes of a run show it once";
}

TEST_F(EnvironmentUnderAnotherTorch, WhatNeedsNoModuleHasNoWarning) {
  EXPECT_TRUE(observers("2.99.0", measure::Pass::kTime).warnings.empty());
  EXPECT_EQ(observers("2.99.0", measure::Pass::kTime).dropped_records.size(), 1u) << "modules without LibTorch remain";
  EXPECT_TRUE(observers("", measure::Pass::kOps, false).warnings.empty()) << "a workload without torch";
}

#if KYMO_HAS_CUDA_MODULES
TEST_F(InstalledEnvironmentTest, ARunOnAGpuHasTheModulesOfTheDevice) {
  const Observers observers = environment_.observers(measure::Pass::kTime, measure::DeviceKind::kCuda, true);
  EXPECT_EQ(observers.all.size() + observers.dropped_records.size(), 2u);
  for (const auto& loss : observers.dropped_records) EXPECT_THAT(loss.detail, HasSubstr("cannot load the module"));
  EXPECT_THROW(environment_.device(measure::DeviceKind::kCuda, 999), collect::Unavailable);
}
#endif

}  // namespace
}  // namespace kymo::worker

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

TEST_F(InstalledEnvironmentTest, TheTorchOfAPythonFileChoosesTheModules) {
  std::filesystem::create_directory(folder_ / "torch-2.1");
  const auto declare = [](const std::filesystem::path& file, const char* device) {
    write_file(file, std::string(R"({"device": ")") + device +
                         R"(", "needs_torch": true, "passes": ["ops", "memory"], "order": 0})");
  };
  declare(folder_ / "absent.json", "any");
  declare(folder_ / "gpu_only.json", "cuda");
  declare(folder_ / "torch-2.1" / "absent.json", "any");
  InstalledEnvironment environment(folder_);
  auto described = assignment(measure::Pass::kOps);
  described.plugin_description = R"({"framework_version": "2.1.3"})";
  environment.plugin(described);
  const Observers observers = environment.observers(measure::Pass::kOps, measure::DeviceKind::kCuda, true);
  ASSERT_EQ(observers.dropped_records.size(), 1u);
  EXPECT_THAT(observers.dropped_records[0].detail, HasSubstr("torch-2.1/absent.so"));

  using measure::DeviceKind;
  EXPECT_THAT(missing_modules(folder_, "2.1.3", measure::Pass::kOps, DeviceKind::kCpu), testing::IsEmpty());
  EXPECT_THAT(missing_modules(folder_, "2.1.3", measure::Pass::kOps, DeviceKind::kCuda),
              testing::ElementsAre("gpu_only"));
  EXPECT_THAT(missing_modules(folder_, "2.11.0", measure::Pass::kOps, DeviceKind::kCuda), testing::IsEmpty());
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

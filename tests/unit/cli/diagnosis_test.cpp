// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"

namespace kymo::cli {
namespace {

using testing::HasSubstr;

TEST(Diagnosis, ReadsWhoMayTrace) {
  EXPECT_TRUE(profiling_is_restricted("EnableMSI: 1\nRmProfilingAdminOnly: 1\n"));
  EXPECT_FALSE(profiling_is_restricted("EnableMSI: 1\nRmProfilingAdminOnly: 0\n"));
  EXPECT_FALSE(profiling_is_restricted(""));
}

/// An installation with modules for torch 2.1 only.
class TorchDiagnosis : public testing::Test {
 protected:
  TorchDiagnosis() : folder_(make_private_folder("kymo-diagnosis-test")) {
    std::filesystem::create_directories(modules() / "torch-2.1");
    write_file(modules() / "torch-2.1" / "operators.json",
               R"({"device": "any", "needs_torch": true, "passes": ["ops"], "order": 0})");
    std::filesystem::create_directory(torch());
  }
  ~TorchDiagnosis() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path modules() const { return folder_ / "modules"; }
  std::filesystem::path torch() const { return folder_ / "torch"; }
  Finding examine(const std::string& version, const std::string& cuda) const {
    TorchLocation location;
    location.torch = torch();
    location.full_version = version;
    location.cuda = cuda;
    return examine_python_torch(location, modules());
  }

  std::filesystem::path folder_;
};

TEST_F(TorchDiagnosis, NamesTorchAndCudaThatAreRecordedCompletely) {
  const Finding gpu = examine("2.1.3+cu130", "13.0");
  EXPECT_EQ(gpu.health, Health::kOk);
  EXPECT_EQ(gpu.detail, "2.1.3+cu130 with CUDA 13.0 in " + torch().string() + ": everything can be recorded");
  const Finding cpu = examine("2.1.0", "");
  EXPECT_EQ(cpu.health, Health::kOk);
  EXPECT_THAT(cpu.detail, HasSubstr("2.1.0 for CPU in "));
}

TEST_F(TorchDiagnosis, NamesTheVersionsWithModulesForAnother) {
  for (const char* version : {"2.99.0", "2.1.0.dev20261101+cu132", "2.1.0a0+git123", ""}) {
    const Finding found = examine(version, "13.2");
    EXPECT_EQ(found.health, Health::kWarning) << version;
    EXPECT_THAT(found.detail, HasSubstr(*version ? version : "unknown version"));
    EXPECT_THAT(found.remedy, HasSubstr("with releases of torch 2.1"));
    EXPECT_THAT(found.remedy, HasSubstr("times, steps, phases and modules are recorded with any torch"));
  }
}

TEST_F(TorchDiagnosis, AnotherCudaRecordsNoActivityOfTheGpu) {
  const Finding found = examine("2.1.0+cu126", "12.6");
  EXPECT_EQ(found.health, Health::kWarning);
  EXPECT_THAT(found.remedy, HasSubstr("with a torch for CUDA 13"));
}

TEST(CounterDiagnosis, ReasonAndRemedyAreApart) {
  const Finding found = counter_finding(1, "no hardware counters: another process uses them; end it");
  EXPECT_EQ(found.subject, "counters gpu 1");
  EXPECT_EQ(found.health, Health::kWarning);
  EXPECT_EQ(found.detail, "no hardware counters: another process uses them");
  EXPECT_EQ(found.remedy, "end it; other passes work");
  EXPECT_EQ(counter_finding(0, "").health, Health::kOk);
  EXPECT_EQ(counter_finding(0, "CUPTI counts nothing").remedy, "other passes work");
}

TEST_F(TorchDiagnosis, TheVersionOfCuptiIsThatOfItsWheel) {
  TorchLocation location;
  location.torch = torch();
  EXPECT_EQ(cupti_version(location), "");
  std::filesystem::create_directory(folder_ / "nvidia_cuda_cupti-13.2.86.dist-info");
  std::filesystem::create_directory(folder_ / "nvidia_cuda_runtime-13.2.75.dist-info");
  EXPECT_EQ(cupti_version(location), "13.2.86");
}

}  // namespace
}  // namespace kymo::cli

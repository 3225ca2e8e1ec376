// SPDX-License-Identifier: Apache-2.0
#include "collect/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace kymo::collect {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path kTestModules = std::filesystem::path(KYMO_BINARY_DIR) / "tests" / "modules";

std::string reason_of(const std::filesystem::path& file) {
  try {
    load_module(file);
  } catch (const Unavailable& reason) {
    return reason.what();
  }
  return "";
}

TEST(Module, LoadsAndCollects) {
  const Module& module = load_module(kTestModules / "collect_good.so");
  EXPECT_STREQ(module.build, build_id());
  const auto collector = module.make();
  EXPECT_EQ(collector->name(), "quiet");
  event::PassRecord record;
  collector->disarm(record);
  ASSERT_EQ(record.dropped_records.size(), 1u);
  EXPECT_EQ(record.dropped_records[0].source, "quiet");
}

TEST(Module, ItsUnavailableIsTheHosts) {
  const Module& module = load_module(kTestModules / "collect_good.so");
  EXPECT_THROW(module.devices(), Unavailable) << "the type must match across libraries";
}

TEST(Module, LoadingAgainGivesTheSame) {
  EXPECT_EQ(&load_module(kTestModules / "collect_good.so"), &load_module(kTestModules / "collect_good.so"));
}

TEST(Module, AMissingFileIsNamed) { EXPECT_THAT(reason_of("/no/such/module.so"), HasSubstr("/no/such/module.so")); }

TEST(Module, AFileThatIsNoLibraryIsRejected) {
  const auto file = std::filesystem::temp_directory_path() / "kymo_text_module_test.so";
  std::ofstream(file) << "plain text";
  EXPECT_THAT(reason_of(file), HasSubstr("kymo_text_module_test.so"));
  std::filesystem::remove(file);
}

TEST(Module, ALibraryWithoutTheEntryIsRejected) {
  EXPECT_THAT(reason_of(kTestModules / "collect_no_entry.so"), HasSubstr(kModuleSymbol));
  EXPECT_THAT(reason_of(kTestModules / "collect_empty_table.so"), HasSubstr("not a kymo module"));
}

TEST(Module, AnotherBuildIsRejectedNamingBoth) {
  EXPECT_THAT(reason_of(kTestModules / "collect_wrong_build.so"),
              AllOf(HasSubstr("0.0.1/another-compiler"), HasSubstr(build_id())));
}

#if KYMO_HAS_CUDA_MODULES
const std::filesystem::path kModules = std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules";

/// The module's GPUs, or the reason why there are none.
std::pair<std::vector<event::Device>, std::string> gpus(const Module& module) {
  try {
    return {module.devices(), ""};
  } catch (const Unavailable& reason) {
    return {{}, reason.what()};
  }
}

TEST(CudaModule, LoadsWithoutADriverAndSaysWhyThereIsNoGpu) {
  const auto [devices, reason] = gpus(load_module(kModules / "kymo_cuda.so"));
  EXPECT_NE(devices.empty(), reason.empty());
  for (const auto& device : devices) {
    EXPECT_EQ(device.kind, "cuda");
    EXPECT_EQ(device.uuid.substr(0, 4), "GPU-");
    EXPECT_GT(device.memory_bytes, 0);
  }
}

TEST(CudaModule, ArmingOnADeviceThatIsNotThereIsUnavailable) {
  const auto collector = load_module(kModules / "kymo_cuda.so").make();
  PassSetting setting;
  setting.device = measure::DeviceKind::kCuda;
  setting.device_index = 999;
  EXPECT_THROW(collector->arm(setting), Unavailable);
}

TEST(TorchCudaModule, DoesNotTouchCudaInARunOnTheCpu) {
  const auto collector = load_module(kModules / "kymo_torch_cuda.so").make();
  PassSetting setting;
  setting.uses_torch = true;
  EXPECT_THROW(collector->arm(setting), Unavailable);
  collector->reset();  // never armed: nothing to release
}

TEST(TorchCudaModule, WithoutAGpuItSaysWhy) {
  const auto collector = load_module(kModules / "kymo_torch_cuda.so").make();
  PassSetting setting;
  setting.device = measure::DeviceKind::kCuda;
  setting.device_index = 100;
  setting.uses_torch = true;
  try {
    collector->arm(setting);
    FAIL() << "there is no such device";
  } catch (const Unavailable& reason) {
    EXPECT_STRNE(reason.what(), "");
    EXPECT_THAT(reason.what(), testing::Not(HasSubstr("\n")));
  }
}
#endif

}  // namespace
}  // namespace kymo::collect

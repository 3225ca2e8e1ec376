// SPDX-License-Identifier: Apache-2.0
#include "collect/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"

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

class ModuleDeclarationTest : public testing::Test {
 protected:
  ModuleDeclarationTest() : folder_(make_private_folder("kymo-module-test")) {}
  ~ModuleDeclarationTest() override { std::filesystem::remove_all(folder_); }

  void declare(const std::string& name, const std::string& declaration) const {
    std::ofstream(folder_ / (name + ".json")) << declaration;
  }
  std::string error() const {
    try {
      read_declarations(folder_);
    } catch (const Error& reason) {
      return reason.what();
    }
    return "";
  }
  std::vector<std::string> selected(measure::Pass pass, measure::DeviceKind device, bool uses_torch) const {
    std::vector<std::string> names;
    for (const auto& module : select_modules(read_declarations(folder_), pass, device, uses_torch))
      names.push_back(module.name());
    return names;
  }

  std::filesystem::path folder_;
};

TEST_F(ModuleDeclarationTest, SelectsByPassDeviceAndFramework) {
  using measure::DeviceKind;
  using measure::Pass;
  declare("late", R"({"device": "cuda", "needs_torch": true, "passes": ["time", "trace"], "order": 2})");
  declare("early", R"({"device": "cuda", "needs_torch": false, "passes": ["trace"], "order": 1})");
  declare("anywhere", R"({"device": "any", "needs_torch": true, "passes": ["trace"], "order": 3})");
  EXPECT_THAT(selected(Pass::kTrace, DeviceKind::kCuda, true), testing::ElementsAre("early", "late", "anywhere"));
  EXPECT_THAT(selected(Pass::kTrace, DeviceKind::kCuda, false), testing::ElementsAre("early"));
  EXPECT_THAT(selected(Pass::kTime, DeviceKind::kCuda, true), testing::ElementsAre("late"));
  EXPECT_THAT(selected(Pass::kTrace, DeviceKind::kCpu, true), testing::ElementsAre("anywhere"));
  EXPECT_THAT(selected(Pass::kMemory, DeviceKind::kCpu, true), testing::IsEmpty());
}

TEST_F(ModuleDeclarationTest, TheVersionOfTorchChoosesTheModulesThatNeedIt) {
  using measure::DeviceKind;
  using measure::Pass;
  declare("gpu", R"({"device": "cuda", "needs_torch": false, "passes": ["time", "ops"], "order": 1})");
  declare("operators", R"({"device": "any", "needs_torch": true, "passes": ["ops"], "order": 2})");
  declare("faults", R"({"device": "any", "needs_torch": false, "passes": ["ops"], "order": 4})");
  for (const char* version : {"2.1", "2.10"}) {
    const auto folder = folder_ / (std::string("torch-") + version);
    std::filesystem::create_directory(folder);
    std::filesystem::copy_file(folder_ / "operators.json", folder / "operators.json");
  }
  const auto files = [&](const std::string& version) {
    std::vector<std::string> found;
    for (const auto& module : select_modules(read_declarations(folder_, version), Pass::kOps, DeviceKind::kCuda, true))
      found.push_back(module.file.lexically_relative(folder_).string());
    return found;
  };
  for (const char* version : {"2.1.3", "2.1.0+cpu", "2.1.0+cu118"})
    EXPECT_THAT(files(version), testing::ElementsAre("gpu.so", "torch-2.1/operators.so", "faults.so")) << version;
  EXPECT_THAT(files("2.10.0"), testing::ElementsAre("gpu.so", "torch-2.10/operators.so", "faults.so"));
  for (const char* version : {"2.2.0", "2.1", "2.1.0a0", "2.1.0.dev20261101+cu132", "2.1.0rc1", "1", "", "../../x.1.1"})
    EXPECT_THAT(files(version), testing::ElementsAre("gpu.so", "faults.so")) << version;
#if KYMO_HAS_CUDA_MODULES
  const std::string own = build_torch_version();
  EXPECT_THAT(files(own), testing::ElementsAre("gpu.so", "operators.so", "faults.so"));
  EXPECT_THAT(torch_versions(folder_), testing::ElementsAre("2.1", "2.10", own.substr(0, own.rfind('.'))));
#endif
}

TEST_F(ModuleDeclarationTest, WithoutADirectoryThereAreNone) {
  EXPECT_TRUE(read_declarations(folder_ / "missing").empty());
}

TEST_F(ModuleDeclarationTest, AModuleWithoutADeclarationIsAnError) {
  std::ofstream(folder_ / "undeclared.so") << "";
  EXPECT_THAT(error(), HasSubstr("undeclared.json"));
}

TEST_F(ModuleDeclarationTest, InvalidDeclarationsNameTheModuleAndTheField) {
  const auto expect_error = [this](const std::string& declaration, const std::string& part) {
    declare("wrong", declaration);
    EXPECT_THAT(error(), AllOf(HasSubstr("wrong.so"), HasSubstr(part)));
  };
  expect_error("{", "wrong.json");
  expect_error("[]", "device");
  expect_error(R"({"device": "tpu", "needs_torch": false, "passes": [], "order": 0})", "tpu");
  expect_error(R"({"device": "any", "needs_torch": 1, "passes": [], "order": 0})", "needs_torch");
  expect_error(R"({"device": "any", "needs_torch": true, "order": 0})", "passes");
  expect_error(R"({"device": "any", "needs_torch": true, "passes": ["nap"], "order": 0})", "nap");
}

TEST_F(ModuleDeclarationTest, NoModuleEnumeratesTheDevices) {
  declare("torch_only", R"({"device": "cuda", "needs_torch": true, "passes": ["time"], "order": 0})");
  EXPECT_THROW(load_device_module(read_declarations(folder_), measure::DeviceKind::kCuda), Unavailable);
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

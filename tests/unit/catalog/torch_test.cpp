// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/installation.hpp"
#include "catalog/catalog.hpp"
#include "fixture.hpp"
#include "unit/hang.hpp"

namespace kymo::catalog::test {
namespace {

class TorchPlugins : public InFolder {};

TEST_F(TorchPlugins, NameTheVersionTheyWereBuiltWith) {
  const PluginFile found = verify_file(plugin("torch_probe"), true);
  EXPECT_EQ(found.framework, "libtorch");
  EXPECT_EQ(found.framework_version, find_torch().version);
  EXPECT_EQ(found.cuda_version, "") << "it does not use the CUDA side itself";
}

TEST_F(TorchPlugins, AreDescribedWithTheirLibrariesFound) {
  const ScopedEnvironment none("LD_LIBRARY_PATH", std::nullopt);
  options_.describe_deadline_s = kymo::testing::kHang_s;
  const Plugin found = describe_file(copy("torch_probe"), options_);
  EXPECT_EQ(found.name, "torch_probe");
  EXPECT_TRUE(found.workloads.at(0).runs_on_cuda);
}

TEST_F(TorchPlugins, TheNoteDecidesWhenUsesIsForgotten) {
  options_.describe_deadline_s = kymo::testing::kHang_s;
  const Plugin found = describe_file(copy("torch_unstated"), options_);
  EXPECT_EQ(found.file.framework, "libtorch");
  EXPECT_EQ(found.workloads.at(0).name, "torch_unstated");
}

// Includes a small LibTorch header to keep the test short; the call requires LibTorch to be linked.
TEST_F(TorchPlugins, AreMadeFromOneFile) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  write_file(
      "linked.cpp",
      "#include <c10/core/DeviceType.h>\n"
      "#include <kymo/workload.hpp>\n"
      "struct Linked final : kymo::Workload {\n"
      "  static kymo::Descriptor describe() { return {\"linked\", c10::DeviceTypeName(c10::DeviceType::CPU)}; }\n"
      "  void step(kymo::Context&) override {}\n"
      "};\n"
      "KYMO_EXPORT_WORKLOADS(Linked)\n");
  BuildRequest request;
  request.sources = {"linked.cpp"};
  const std::filesystem::path made = build_plugin_file(request);
  std::filesystem::current_path(before);
  options_.describe_deadline_s = kymo::testing::kHang_s;
  const Plugin found = describe_file(made, options_);
  EXPECT_EQ(found.file.framework_version, find_torch().version);
  EXPECT_EQ(found.workloads.at(0).documentation, "CPU");
}

}  // namespace
}  // namespace kymo::catalog::test

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kymo_plugin.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/process.hpp"
#include "catalog/catalog.hpp"
#include "unit/installed.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Installs the development files to a directory with a space in its name. Each test builds a project against it.
class Package : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    top_ = new fs::path(make_private_folder("kymo-package-test"));
    setenv("XDG_CACHE_HOME", (*top_ / "cache").c_str(), 1);
    cmake({"--install", KYMO_BINARY_DIR, "--prefix", prefix().string(), "--component", "development"});
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    fs::remove_all(*top_, ignored);
    delete top_;
  }
  static fs::path prefix() { return *top_ / "moved here"; }

  static void cmake(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), KYMO_CMAKE);
    SpawnOptions options;
    options.command = std::move(arguments);
    const CommandResult result = run_command(options, 800);
    ASSERT_EQ(result.end.exit_code, 0) << result.stdout_text << result.stderr_text;
  }
  /// Runs the two commands that a user runs.
  static void build(const fs::path& source, const fs::path& binary, std::vector<std::string> more = {}) {
    std::vector<std::string> configure{"-S", source.string(), "-B", binary.string()};
    configure.insert(configure.end(), more.begin(), more.end());
    ASSERT_NO_FATAL_FAILURE(cmake(configure));
    cmake({"--build", binary.string()});
  }
  static Plugin describe(const fs::path& file) { return describe_file(file, Options{}); }
  static fs::path* top_;
};
fs::path* Package::top_ = nullptr;

TEST_F(Package, HoldsWhatAuthorsNeed) {
  for (const char* part :
       {"include/kymo/workload.hpp", "include/kymo/detail/export.hpp", "include/kymo/abi/kymo_plugin.h",
        "include/kymo/abi/kymo_operators.h", "lib/cmake/kymo/kymoConfig.cmake",
        "lib/cmake/kymo/kymoConfigVersion.cmake", "lib/cmake/kymo/KymoPlugin.cmake", "lib/cmake/kymo/KymoTorch.cmake",
        "lib/cmake/kymo/kymo_plugin.version", "share/kymo/template/CMakeLists.txt", "share/kymo/template/saxpy.cpp",
        "share/doc/kymo/LICENSE", "share/doc/kymo/README.md", "share/doc/kymo/docs/write-a-plugin.md",
        "share/doc/kymo/docs/cli.md", "share/doc/kymo/docs/schema.md"}) {
    EXPECT_TRUE(fs::is_regular_file(prefix() / part)) << part;
  }
  for (const auto& entry : fs::recursive_directory_iterator(prefix())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(read_file(entry.path()), ::testing::Not(HasSubstr(KYMO_SOURCE_DIR)))
        << entry.path() << " contains the path of the build directory";
  }
}

TEST_F(Package, BuildsAnOutsideProject) {
  const fs::path built = *top_ / "outside";
  build(fs::path(KYMO_SOURCE_DIR) / "tests" / "package" / "outside", built,
        {"-DCMAKE_PREFIX_PATH=" + prefix().string()});
  const Plugin found = describe(built / "outside.so");
  EXPECT_EQ(found.name, "outside");
  EXPECT_EQ(found.version, "3.2.1");
  EXPECT_EQ(found.file.framework, "");
  ASSERT_EQ(found.workloads.size(), 2u);
  EXPECT_EQ(found.workloads[1].name, "second");
  SpawnOptions names;
  names.command = {"nm", "--dynamic", "--defined-only", "--format=just-symbols", (built / "outside.so").string()};
  EXPECT_EQ(run_command(names, 20).stdout_text, "kymo_plugin_v2\n") << "exactly one symbol must be visible";
}

// The output of `kymo new` builds with the two commands in its header comment, without further options.
TEST_F(Package, BuildsACopyOfTheTemplate) {
  const fs::path made = new_plugin("my_kernel", *top_);
  build(made, made / "build");
  const Plugin found = describe(made / "build" / "my_kernel.so");
  EXPECT_EQ(found.name, "my_kernel");
  EXPECT_EQ(found.workloads.at(0).name, "my_kernel");
  EXPECT_EQ(found.workloads.at(0).parameters.size(), 3u);
}

// As after `kymo new`: the project is told neither where LibTorch is nor has a python3 with torch.
TEST_F(Package, FindsTheLibTorchOfKymoBuild) {
  const std::string torch = KYMO_TORCH_FOLDER;
  if (torch.empty()) GTEST_SKIP() << "this build does not use LibTorch";
  const fs::path made = new_plugin("needs_torch", *top_);
  write_file(made / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.25)\n"
             "project(needs_torch LANGUAGES CXX)\n"
             "find_package(kymo REQUIRED HINTS \"" KYMO_BINARY_DIR
             "\")\n"
             "kymo_add_plugin(needs_torch TORCH needs_torch.cpp)\n");
  const fs::path fake = *top_ / "python without torch";
  fs::create_directories(fake);
  write_file(fake / "python3", "#!/bin/sh\nexit 0\n");
  fs::permissions(fake / "python3", fs::perms::owner_all);
  const std::string before = getenv("PATH");
  setenv("PATH", (fake.string() + ":" + before).c_str(), 1);
  const fs::path built = made / "build";
  cmake({"-S", made.string(), "-B", built.string()});
  setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(read_file(built / "CMakeCache.txt"),
              HasSubstr("KYMO_TORCH:PATH=" + fs::canonical(torch).string() + "\n"));
}

TEST_F(Package, BuildsAnOutsideProjectWithLibTorch) {
  const std::string torch = KYMO_TORCH_FOLDER;
  if (torch.empty()) GTEST_SKIP() << "this build does not use LibTorch";
  if (std::getenv("KYMO_QUICK")) GTEST_SKIP() << "'./dev test quick' does not compile plugins with LibTorch";
  const fs::path built = *top_ / "outside_torch";
  build(fs::path(KYMO_SOURCE_DIR) / "tests" / "package" / "outside", built,
        {"-DCMAKE_PREFIX_PATH=" + prefix().string(), "-DWITH_TORCH=ON", "-DKYMO_TORCH=" + torch});
  for (const char* name : {"outside_torch", "outside_torch_again"}) {
    const Plugin found = describe(built / (std::string(name) + ".so"));
    EXPECT_EQ(found.file.framework, "libtorch");
    EXPECT_FALSE(found.file.framework_version.empty());
  }
  EXPECT_TRUE(describe(built / "outside_torch.so").workloads.at(0).runs_on_cuda);

  SpawnOptions ranks;
  ranks.command = {KYMO_PROGRAM,
                   "run",
                   (built / "outside_comm.so").string(),
                   "--ranks",
                   "2",
                   "--device",
                   "cpu",
                   "--steps",
                   "2",
                   "--db",
                   *top_ / "outside.db"};
  ranks.environment = {{"KYMO_TORCH", torch}};
  const CommandResult run = run_command(ranks, 300);
  EXPECT_EQ(run.end.exit_code, 0) << run.stdout_text << run.stderr_text;
  EXPECT_THAT(run.stdout_text, HasSubstr("outside_comm"));
}

// The operator library is next to the plugins and usable from Python, wherever the package was moved to.
TEST_F(Package, HoldsTheOperatorsForPython) {
  const fs::path torch = KYMO_TORCH_FOLDER;
  if (torch.empty()) GTEST_SKIP() << "this build does not use LibTorch";
  const fs::path python = torch / ".." / ".." / ".." / ".." / "bin" / "python";
  KYMO_NEEDS_INSTALLED(fs::exists(python), "the Python that LibTorch came with");
  const fs::path built = fs::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "plugins";
  const fs::path moved = *top_ / "moved plugins";
  fs::create_directory(moved);
  for (const char* name : {"libkymo_ops.so", "libkymo_kernels.so"})
    if (fs::exists(built / name)) fs::copy_file(built / name, moved / name);  // no kernels: KYMO_CUDA_KERNELS is off
  ASSERT_TRUE(fs::exists(moved / "libkymo_ops.so")) << "build the target kymo_ops first";
  SpawnOptions options;
  options.command = {python.string(), "-c",
                     "import sys, torch\n"
                     "torch.ops.load_library(sys.argv[1])\n"
                     "q = torch.randn(1, 2, 9, 16, requires_grad=True)\n"
                     "o = torch.ops.kymo.attention(q, q, q, causal=True)\n"
                     "o.sum().backward()\n"
                     "print(tuple(o.shape), tuple(q.grad.shape))\n",
                     (moved / "libkymo_ops.so").string()};
  const CommandResult result = run_command(options, 300);
  EXPECT_EQ(result.end.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(result.stdout_text, "(1, 2, 9, 16) (1, 2, 9, 16)\n");
}

}  // namespace
}  // namespace kymo::catalog

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "describe-plugin")
    return kymo::catalog::describe_in_this_process(argv[2]);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

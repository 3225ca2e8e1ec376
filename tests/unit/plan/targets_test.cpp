// SPDX-License-Identifier: Apache-2.0
#include "plan/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo::plan {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A Python file named with --plugin, described by a script instead of an interpreter.
class NamedFile : public testing::Test {
 protected:
  ~NamedFile() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void interpreter(const std::string& script) {
    std::ofstream(folder_ / "python3") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder_ / "python3", fs::perms::owner_all);
  }
  std::string problem() {
    std::ofstream(folder_ / "mine.py") << "import kymo\n";
    catalog::Options options;
    options.extra_files = {folder_ / "mine.py"};
    options.installed = folder_ / "none";
    options.python = (folder_ / "python3").string();
    options.python_limits.idle_s = 0.3;
    try {
      Targets(options).find("saxpy");
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "the file was used";
    return "";
  }

  fs::path folder_ = make_private_folder("kymo-targets-test");
};

TEST_F(NamedFile, ThatIsBadIsRejected) {
  interpreter("exit 3");
  EXPECT_THAT(problem(), AllOf(HasSubstr("--plugin '"), HasSubstr("mine.py' is rejected: "), HasSubstr("exit code 3")));
}

TEST_F(NamedFile, ThatWasNotDescribedInTimeMayBeGood) {
  interpreter("sleep 1000");
  EXPECT_THAT(problem(), AllOf(HasSubstr("mine.py' could not be described: "), HasSubstr("it slept for 0.3 s")));
}

}  // namespace
}  // namespace kymo::plan

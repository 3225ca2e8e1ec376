// SPDX-License-Identifier: Apache-2.0
// Describing Python files, with a shell script in place of the interpreter.
#include <signal.h>

#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kParameter =
    R"({"name": "n", "type": "int", "unit": "", "documentation": "", "default": 4, "title": "", )"
    R"("titled_at_default": false, "setting": false})";

std::string description(const std::string& workload, const std::string& phases = R"(["forward"])") {
  std::string json =
      R"({"name": "x", "version": "", "file": "", "sha256": "", "torch": "", "libraries": {}, "abi_major": 1, )"
      R"("abi_minor": 3, "framework": "", "framework_version": "", "cuda_version": "", "cxx_abi": "", )"
      R"("compiler": "CPython 3.11.2", "workloads": [{"name": ")";
  json += workload;
  json += R"(", "documentation": "", "devices": ["cpu"], "min_ranks": 1, "max_ranks": 1, )"
          R"("asynchronous_step": false, "title": "", "family": "", "family_order": 0, "phases": )";
  return json + phases + R"(, "parameters": [)" + kParameter + "]}]}";
}

class PythonFile : public InFolder {
 protected:
  PythonFile() {
    write_file(folder_ / "my-kernel.py", "import kymo\n");
    file_ = fs::canonical(folder_ / "my-kernel.py");
  }

  /// Installs an interpreter that writes this text and counts its calls.
  void answer(const std::string& text, int exit_code = 0) {
    const fs::path program = folder_ / "python3";
    write_file(folder_ / "answer", text);
    write_file(program, "#!/bin/sh\necho \"$@\" >> '" + (folder_ / "calls").string() + "'\ncat '" +
                            (folder_ / "answer").string() + "'\nexit " + std::to_string(exit_code) + "\n");
    fs::permissions(program, fs::perms::owner_all);
    options_.python = program.string();
  }
  std::string calls() const { return fs::exists(folder_ / "calls") ? read_file(folder_ / "calls") : ""; }
  std::string rejection() {
    return message_of([&] { describe_file(file_, options_); });
  }

  fs::path file_;
};

TEST_F(PythonFile, IsDescribedByItsInterpreter) {
  answer(description("softmax"));
  const Plugin found = describe_file(file_, options_);
  EXPECT_EQ(found.name, "my_kernel") << "the name of the file, as a name";
  EXPECT_EQ(found.file.file, file_);
  EXPECT_EQ(found.file.interpreter, folder_ / "python3");
  EXPECT_EQ(found.file.sha256, sha256_of_file(file_));
  EXPECT_EQ(found.file.compiler, "CPython 3.11.2");
  EXPECT_EQ(found.workloads.at(0).name, "softmax");
  EXPECT_THAT(found.workloads[0].phases, ElementsAre("forward"));
  EXPECT_EQ(calls(), (installation().python / "kymo_worker.py").string() + " describe " + file_.string() + "\n");
}

TEST_F(PythonFile, IsDescribedAgainOnlyWhenSomethingChanged) {
  answer(description("softmax"));
  describe_file(file_, options_);
  const std::string once = calls();
  const Plugin cached = describe_file(file_, options_);
  EXPECT_EQ(calls(), once);
  EXPECT_EQ(cached.file.interpreter, folder_ / "python3");
  write_file(file_, "import kymo  # changed\n");
  describe_file(file_, options_);
  EXPECT_EQ(calls(), once + once) << "the file changed";
  answer(description("softmax"));
  describe_file(file_, options_);
  EXPECT_EQ(calls(), once + once + once) << "the interpreter changed";
}

TEST_F(PythonFile, IsDescribedAgainWhenItsTorchChanged) {
  const fs::path torch = folder_ / "torch";
  fs::create_directory(torch);
  write_file(torch / "version.py", "__version__ = '2.11.0'\n");
  std::string text = description("softmax");
  text.replace(text.find(R"("torch": "")"), 11, R"("torch": ")" + torch.string() + '"');
  answer(text);
  describe_file(file_, options_);
  const std::string once = calls();
  write_file(torch / "version.py", "__version__ = '2.11.1'\n");
  describe_file(file_, options_);
  EXPECT_EQ(calls(), once + once);
}

TEST_F(PythonFile, IsIdentifiedByTheVersionsItRunsWith) {
  answer(description("softmax"));
  const Plugin found = describe_file(file_, options_);
  PluginFile other = found.file;
  EXPECT_NE(identity_sha256(found.file), found.file.sha256);
  other.framework_version = "2.10.0";
  EXPECT_NE(identity_sha256(other), identity_sha256(found.file));
}

TEST_F(PythonFile, ReportsTheErrorOfTheInterpreter) {
  answer(R"_({"error": "NameError: name 'torhc' is not defined (my-kernel.py:7)"})_", 1);
  EXPECT_THAT(rejection(), AllOf(HasSubstr("my-kernel.py"), HasSubstr("NameError: name 'torhc'"), HasSubstr(":7)")));
}

TEST_F(PythonFile, ReportsAnInterpreterWithoutAnAnswer) {
  answer("Segmentation fault", 139);
  EXPECT_THAT(rejection(), HasSubstr("describing it failed: exit code 139"));
}

TEST_F(PythonFile, ThatHangsIsEnded) {
  write_file(folder_ / "python3", "#!/bin/sh\nsleep 1000\n");
  fs::permissions(folder_ / "python3", fs::perms::owner_all);
  options_.python = (folder_ / "python3").string();
  options_.python_limits.idle_s = 0.3;
  EXPECT_THAT(rejection(), HasSubstr("could not be described: describing it hangs: it slept for 0.3 s"));
}

TEST_F(PythonFile, IsDescribedWithFewOthersAtATime) {
  const std::string now = (folder_ / "now").string(), two = (folder_ / "two").string();
  fs::create_directory(now);
  write_file(folder_ / "answer", description("softmax"));
  // Waits until two have been seen at a time, and counts those that run.
  write_file(folder_ / "python3", "#!/bin/sh\n: > " + now + "/$$\nwhile [ ! -e " + two + " ]; do [ $(ls " + now +
                                      " | wc -l) -lt 2 ] || : > " + two + "; sleep 0.01; done\nls " + now +
                                      " | wc -l >> " + (folder_ / "calls").string() + "\nrm " + now + "/$$\ncat " +
                                      (folder_ / "answer").string() + "\n");
  fs::permissions(folder_ / "python3", fs::perms::owner_all);
  options_.python = (folder_ / "python3").string();
  options_.describe_at_once = 2;
  for (const std::string name : {"e", "d", "c", "b", "a"}) {
    write_file(folder_ / (name + ".py"), "import kymo\n");
    options_.extra_files.push_back(folder_ / (name + ".py"));
  }
  const Catalog found = discover(options_);
  ASSERT_EQ(found.plugins.size(), 5u);
  EXPECT_EQ(found.plugins.front().name, "e") << "in the order of the files";
  EXPECT_EQ(found.plugins.back().name, "a");
  EXPECT_EQ(calls().find_first_not_of("12\n"), std::string::npos) << calls();
}

TEST_F(PythonFile, LeavesNoProcessBehind) {
  answer(description("softmax"));
  write_file(folder_ / "python3", "#!/bin/sh\nsetsid sleep 1000 &\necho $! > " + (folder_ / "calls").string() +
                                      "\ncat " + (folder_ / "answer").string() + "\n");
  fs::permissions(folder_ / "python3", fs::perms::owner_all);
  EXPECT_EQ(describe_file(file_, options_).name, "my_kernel");
  EXPECT_NE(kill(std::stoi(calls()), 0), 0);
}

TEST_F(PythonFile, RejectsInvalidNames) {
  answer(description("Softmax"));
  EXPECT_THAT(rejection(), AllOf(HasSubstr("the name of a workload is 'Softmax'"), HasSubstr("lowercase")));
  answer(description("softmax", R"(["forward", "forward"])"));
  EXPECT_THAT(rejection(), HasSubstr("workload 'softmax' declares the phase 'forward' twice"));
  fs::rename(file_, folder_ / "7.py");
  EXPECT_THAT(message_of([&] { describe_file(folder_ / "7.py", options_); }), HasSubstr("begins with a letter"));
}

TEST_F(PythonFile, NeedsAnInterpreter) {
  options_.python = (folder_ / "missing").string();
  EXPECT_THAT(rejection(), AllOf(HasSubstr("--python"), HasSubstr("missing"), HasSubstr("not an executable")));
}

TEST_F(PythonFile, TheInterpreterIsThatOfTheEnvironmentUnlessOneIsChosen) {
  fs::create_directories(folder_ / "venv" / "bin");
  fs::copy_file("/bin/true", folder_ / "venv" / "bin" / "python3");
  const ScopedEnvironment environment("VIRTUAL_ENV", (folder_ / "venv").string());
  EXPECT_EQ(find_interpreter(""), folder_ / "venv" / "bin" / "python3");
  EXPECT_EQ(find_interpreter("/bin/true"), "/bin/true");
}

TEST_F(PythonFile, InFoldersOfTheUserIsNotImported) {
  answer(description("softmax"));
  const ScopedEnvironment path("KYMO_PLUGIN_PATH", folder_.string());
  options_.installed = folder_ / "none";
  EXPECT_TRUE(discover(options_).plugins.empty());
  EXPECT_EQ(calls(), "");
  options_.installed = folder_;
  const Catalog found = discover(options_);
  ASSERT_EQ(found.plugins.size(), 1u);
  EXPECT_EQ(found.plugins[0].workloads.at(0).name, "softmax");
}

}  // namespace
}  // namespace kymo::catalog::test

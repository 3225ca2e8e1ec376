// SPDX-License-Identifier: Apache-2.0
#include "plan/program_command.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"

namespace kymo::plan {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class ProgramCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kymo-program-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    before_ = fs::current_path();
    fs::current_path(folder_);
    for (const char* program : {"python3", "torchrun", "run.sh"}) {
      std::ofstream(folder_ / program) << "#!/bin/sh\n";
      fs::permissions(folder_ / program, fs::perms::owner_all);
    }
    std::ofstream(folder_ / "train.py") << "\n";
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static std::string rejection(const std::vector<std::string>& command) {
    try {
      parse_program_command(command);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_, before_;
};

TEST_F(ProgramCommandTest, FindsTheScriptAfterTheOptionsOfPython) {
  const ProgramCommand parsed =
      parse_program_command({"./python3", "-u", "-W", "ignore", "-Xdev", "train.py", "-m", "two words", "other.py"});
  EXPECT_EQ(parsed.name, "train.py");
  EXPECT_EQ(parsed.arguments, "-m 'two words' other.py");
  EXPECT_EQ(parsed.file, fs::current_path() / "train.py");
  EXPECT_EQ(parsed.python, "./python3");
}

TEST_F(ProgramCommandTest, NamesModulesAndCommands) {
  const ProgramCommand module = parse_program_command({"./python3", "-m", "package.train", "--lr", "1"});
  EXPECT_EQ(module.name, "package.train");
  EXPECT_EQ(module.arguments, "--lr 1");
  EXPECT_EQ(module.file, "");
  EXPECT_EQ(parse_program_command({"./python3", "-c", "pass"}).name, "python -c");
}

TEST_F(ProgramCommandTest, AScriptMayBeAFolderOrComeFromStdin) {
  std::filesystem::create_directory(folder_ / "pkg");
  EXPECT_THAT(rejection({"./python3", "pkg"}), HasSubstr("no script 'pkg'"));
  std::ofstream(folder_ / "pkg" / "__main__.py") << "\n";
  for (const char* word : {"pkg", "pkg/"}) {
    const ProgramCommand parsed = parse_program_command({"./python3", word, "--lr"});
    EXPECT_EQ(parsed.name, "pkg");
    EXPECT_TRUE(std::filesystem::equivalent(parsed.file, folder_ / "pkg" / "__main__.py"));
    EXPECT_EQ(parsed.arguments, "--lr");
  }
  const ProgramCommand parsed = parse_program_command({"./python3", "-u", "-", "--lr"});
  EXPECT_EQ(parsed.name, "python -");
  EXPECT_EQ(parsed.file, "");
  EXPECT_EQ(parsed.arguments, "--lr");
}

TEST_F(ProgramCommandTest, FindsTheScriptOfALauncher) {
  for (const std::vector<std::string>& launcher :
       {std::vector<std::string>{"./torchrun"}, {"./python3", "-m", "torch.distributed.run"}}) {
    std::vector<std::string> command = launcher;
    command.insert(command.end(), {"--nproc-per-node", "2", "train.py", "--lr", "1"});
    const ProgramCommand parsed = parse_program_command(command);
    EXPECT_EQ(parsed.name, "train.py");
    EXPECT_EQ(parsed.arguments, "--lr 1");
    EXPECT_EQ(parsed.ranks, 2);
  }
  EXPECT_EQ(parse_program_command({"./torchrun", "--nproc_per_node=3", "train.py"}).ranks, 3);
  EXPECT_EQ(parse_program_command({"./torchrun", "--nproc-per-node", "gpu", "train.py"}).ranks, std::nullopt);
}

TEST_F(ProgramCommandTest, NamesOtherPrograms) {
  const ProgramCommand parsed = parse_program_command({"./run.sh", "now"});
  EXPECT_EQ(parsed.name, "run.sh");
  EXPECT_EQ(parsed.arguments, "now");
  EXPECT_EQ(parsed.python, "");
}

TEST_F(ProgramCommandTest, CommandsOfAShellAreNoScripts) {
  for (const char* text : {"python train.py", "cd .; python train.py", "X=1 exec python missing.py", "./missing.py"}) {
    const ProgramCommand parsed = parse_program_command({"/bin/sh", "-c", text});
    EXPECT_EQ(parsed.name, "sh") << text;
    EXPECT_EQ(parsed.file, "") << text;
  }
  EXPECT_EQ(parse_program_command({"./run.sh", "python < missing.py"}).name, "run.sh");
  std::ofstream(folder_ / "two words.py") << "\n";
  EXPECT_EQ(parse_program_command({"./torchrun", "two words.py"}).name, "two words.py");
}

TEST_F(ProgramCommandTest, RejectsWhatCannotBeStarted) {
  EXPECT_THAT(rejection({}), HasSubstr("a program is required"));
  EXPECT_THAT(rejection({"./missing"}), HasSubstr("no program './missing'"));
  EXPECT_THAT(rejection({"./python3", "missing.py"}), HasSubstr("no script 'missing.py'"));
  EXPECT_THAT(rejection({"./python3", "-u"}), HasSubstr("without a script"));
  EXPECT_THAT(rejection({"./python3", "-m"}), HasSubstr("-m needs a value"));
  EXPECT_THAT(rejection({"./torchrun", "missing.py"}), HasSubstr("no script 'missing.py'"));
}

TEST(StartsPython, IfACommandRunsAScriptOrAModule) {
  EXPECT_TRUE(starts_python({"python3", "-u", "train.py"}));
  EXPECT_TRUE(starts_python({"/usr/bin/python3", "-m", "package.module"}));
  EXPECT_TRUE(starts_python({"./train.py", "1"}));
  EXPECT_TRUE(starts_python({"torchrun", "--nproc-per-node", "2", "train.py"}));
  EXPECT_FALSE(starts_python({"python3", "-c", "pass"}));
  EXPECT_FALSE(starts_python({"python3", "--version"}));
  EXPECT_FALSE(starts_python({"wc", "train.py"}));
  EXPECT_FALSE(starts_python({}));
}

}  // namespace
}  // namespace kymo::plan

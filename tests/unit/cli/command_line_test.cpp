// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "cli/commands.hpp"

namespace kymo::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string output, errors;
};

Outcome call(std::vector<const char*> words) {
  words.insert(words.begin(), "kymo");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.code = run_command_line(static_cast<int>(words.size()), words.data());
  outcome.output = testing::internal::GetCapturedStdout();
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

struct ErrorCase {
  std::vector<const char*> words;
  const char* message;
};

class UsageErrors : public testing::TestWithParam<ErrorCase> {
 protected:
  static void SetUpTestSuite() {
    // kymo starts its own program to inspect plugins; here, that is this test program.
    if (setenv("KYMO_INSIDE_TEST", "1", 0) != 0 || std::string(getenv("KYMO_INSIDE_TEST")) == "2") std::_Exit(1);
    setenv("KYMO_INSIDE_TEST", "2", 1);
  }
  void SetUp() override {
    folder_ = make_private_folder("kymo-test");
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_P(UsageErrors, AreOneLineAndLeaveNothingBehind) {
  const Outcome outcome = call(GetParam().words);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, testing::StartsWith("kymo: "));
  EXPECT_THAT(outcome.errors, HasSubstr(GetParam().message));
  EXPECT_LT(outcome.errors.size(), 1000u);
  EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

const std::string kLongText(10'000, 'x');

INSTANTIATE_TEST_SUITE_P(
    All, UsageErrors,
    testing::Values(
        ErrorCase{{"help", "trase"}, "did you mean 'trace'"},
        ErrorCase{{"trace", "--pass", "ops", "--", "python", "x.py"}, "unknown option '--pass'"},
        ErrorCase{{"trace", "--repeats", "3", "--", "python", "x.py", "--lr", "1"}, "unknown option '--repeats'"},
        ErrorCase{{"trace", "--repeat", "2", "--passes", "time", "--steps", "1:2,5:6", "--", "true"},
                  "--repeat: several windows"},
        ErrorCase{{"trace", "--repeat", "2", "--passes", "ops", "--", "true"}, "add time to --passes"},
        ErrorCase{{"ab", "sleep 1", "saxpy"}, "--command makes every candidate a command"},
        ErrorCase{{"ab", "sleep 1", "no-such-program x"}, "there is no program 'no-such-program'"},
        ErrorCase{{"ab", "sleep 1", "sleep 2", "--output", "pipe"}, "--output takes null or store"},
        ErrorCase{{"ab", "sleep 1", "sleep 2", "--until", "1%"}, "--until does not apply to whole commands"},
        ErrorCase{{"ab", "sleep 1", "sleep 2", "--set", "n=1"}, "--set does not apply"},
        ErrorCase{{"trace", "--stop", "--no-stop", "--", "python", "x.py"}, "--stop excludes --no-stop"},
        ErrorCase{{"show", "x.db"}, "--db x.db"}, ErrorCase{{"lst"}, "did you mean 'list'"},
        ErrorCase{{"run"}, "workload"}, ErrorCase{{"frobnicate"}, "unknown command"},
        ErrorCase{{"suite"}, "needs a command: list, run"}, ErrorCase{{"suite", "rum"}, "did you mean 'run'"},
        ErrorCase{{"list", "--jsn"}, "did you mean '--json'"},
        ErrorCase{{"list", "extra"}, "takes no argument 'extra'"},
        ErrorCase{{"run", "w", "--stepz", "3"}, "did you mean '--steps'"},
        ErrorCase{{"run", "w", "--steps"}, "--steps"},
        ErrorCase{{"run", "w", "--steps", "0"}, "--steps takes a whole number"},
        ErrorCase{{"run", "w", "--steps", "1", "--steps", "2"}, "--steps"},
        ErrorCase{{"run", "w", "--warmup", "-1"}, "--warmup"}, ErrorCase{{"run", "w", "--ranks", "0"}, "--ranks"},
        ErrorCase{{"run", "w", "--device", "gpu"}, "auto, cpu, cuda"},
        ErrorCase{{"run", "w", "--timing", "warm"}, "unknown timing 'warm'"},
        ErrorCase{{"run", "w", "--sync", "never"}, "never"}, ErrorCase{{"run", "w", "--timing", "Hot"}, "hot"},
        ErrorCase{{"run", "w", "--timing", ""}, "timing"},
        ErrorCase{{"run", "w", "--against", ""}, "--against takes WORKLOAD"},
        ErrorCase{{"run", "w", "--against", ":n=1"}, "--against takes"},
        ErrorCase{{"run", "w", "--against", "v:n=1,m"}, "--against takes parameter=value"},
        ErrorCase{{"run", "w", "--against", "v", "--against", "u"}, "--against"},
        ErrorCase{{"verify", "w", "--against", "v"}, "--against"},
        ErrorCase{{"run", "w", "--passes", "events"}, "verify, time, memory, trace, ops, counters"},
        ErrorCase{{"run", "w", "--trace-detail", "all"}, "memsets, synchronization, overhead, api, shapes"},
        ErrorCase{{"run", "w", "--keep", "some"}, "summary"},
        ErrorCase{{"run", "w", "--label", kLongText.c_str()}, "--label"},
        ErrorCase{{"run", "w", "--set", "p=\xff"}, "argument 4 is not valid UTF-8"},
        ErrorCase{{"run", "w", "--db", "\xc3.db"}, "not valid UTF-8"},
        ErrorCase{{"run", "w", "--observed-steps", "0"}, "--observed-steps"},
        ErrorCase{{"run", "w", "--kernel-classes", "/no/such/file.toml"}, "/no/such/file.toml"},
        ErrorCase{{"run", "w", "--until", "2"}, "--until"},
        ErrorCase{{"run", "w", "--until", "1%", "--steps", "3"}, "mutually exclusive"},
        ErrorCase{{"run", "w", "--min-time", "1", "--steps", "3"}, "--steps and --min-time are mutually exclusive"},
        ErrorCase{{"run", "w", "--max-steps", "9", "--steps", "3"}, "--steps and --max-steps are mutually exclusive"},
        ErrorCase{{"run", "w", "--min-time", "-1"}, "--min-time"},
        ErrorCase{{"run", "w", "--timeout", "soon"}, "--timeout"},
        ErrorCase{{"run", "w", "--host-memory", "much"}, "--host-memory"},
        ErrorCase{{"run", "w", "--shard", "3/2"}, "--shard"},
        ErrorCase{{"run", "w", "--set", "p"}, "--set takes parameter=value"},
        ErrorCase{{"run", "w", "--axis", "=1"}, "--axis takes"}, ErrorCase{{"run", "w", "--repeat", "0"}, "--repeat"},
        ErrorCase{{"run", "w", "--seed", "-1"}, "--seed"},
        ErrorCase{{"run", "w", "--no-verify", "--passes", "verify"}, "removes the only selected pass"},
        ErrorCase{{"run", "w", "--wrap", "no-such-program-here"}, "no program"},
        ErrorCase{{"run", "./missing.so"}, "no such plugin file"},
        ErrorCase{{"run", "./missing.so:w"}, "no such plugin file"},
        ErrorCase{{"describe", "missing.so"}, "no such plugin file"},
        ErrorCase{{"suite", "run", "quik"}, "unknown suite"},
        ErrorCase{{"suite", "run", "./no.toml"}, "no such suite file"},
        ErrorCase{{"sql", "SELECT 1"}, "no such database: 'kymo.db'"},
        ErrorCase{{"sql", "SELECT 1", "--json", "--csv"}, "--csv"},
        ErrorCase{{"sql", "SELECT 1", "--write"}, "unknown option '--write'"},
        ErrorCase{{"report", "quick", "--db", "none.db"}, "no such database: 'none.db'"},
        ErrorCase{{"report", "quick", "--invocation", "x"}, "--invocation"}, ErrorCase{{"merge", "all.db"}, "source"},
        ErrorCase{{"merge", "all.db", "none.db"}, "no such database: 'none.db'"},
        ErrorCase{{"new", "Not-A-Name"}, "Not-A-Name"}, ErrorCase{{"build", "missing.cpp"}, "no such source file"},
        ErrorCase{{"build", "kernel.py"}, "a Python file is not built; run it"},
        ErrorCase{{"worker", "--connect", "nowhere", "--rank", "0"}, "HOST:PORT"},
        ErrorCase{{"worker", "--connect", "127.0.0.1:1", "--rank", "0"}, "KYMO_WORKER_TOKEN"},
        ErrorCase{{"worker", "--connect", "/run/control", "--rank", "0"}, "KYMO_WORKER_TOKEN"}));

TEST(CommandLine, HelpNamesEveryCommandAndHidesTheToolsOwn) {
  const Outcome help = call({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command :
       {"list", "describe", "run", "suite", "report", "sql", "merge", "export", "verify", "doctor", "new", "build"}) {
    EXPECT_THAT(help.output, HasSubstr(std::string("\n  ") + command + " ")) << command;
  }
  for (const char* command : {"worker", "describe-plugin", "devices"}) {
    EXPECT_THAT(help.output, testing::Not(HasSubstr(std::string("\n  ") + command + " "))) << command;
  }
}

TEST(CommandLine, PrintsItsVersion) {
  const Outcome outcome = call({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, testing::MatchesRegex("kymo [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Help, IsShownOfCommandsAndWithoutOne) {
  const Outcome bare = call({});
  EXPECT_EQ(bare.code, 0);
  EXPECT_THAT(bare.output, HasSubstr("Observe an unmodified PyTorch program"));
  EXPECT_EQ(call({"help"}).output, bare.output);
  EXPECT_EQ(call({"help", "trace"}).output, call({"trace", "--help"}).output);
  EXPECT_EQ(call({"help", "suite", "run"}).output, call({"suite", "run", "--help"}).output);
  EXPECT_EQ(call({"-v"}).output, call({"--version"}).output);
}

}  // namespace
}  // namespace kymo::cli

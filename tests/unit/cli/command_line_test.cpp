// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "cli/app.hpp"

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

struct Mistake {
  std::vector<const char*> words;
  const char* message;
};

class Mistakes : public testing::TestWithParam<Mistake> {
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

TEST_P(Mistakes, AreOneLineAndLeaveNothingBehind) {
  const Outcome outcome = call(GetParam().words);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, testing::StartsWith("kymo: "));
  EXPECT_THAT(outcome.errors, HasSubstr(GetParam().message));
  EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        Mistake{{}, "needs a command"}, Mistake{{"lst"}, "did you mean 'list'"}, Mistake{{"run"}, "workload"},
        Mistake{{"frobnicate"}, "unknown command"}, Mistake{{"suite"}, "needs a command: list, run"},
        Mistake{{"suite", "rum"}, "did you mean 'run'"}, Mistake{{"list", "--jsn"}, "did you mean '--json'"},
        Mistake{{"list", "extra"}, "takes no argument 'extra'"},
        Mistake{{"run", "w", "--stepz", "3"}, "did you mean '--steps'"}, Mistake{{"run", "w", "--steps"}, "--steps"},
        Mistake{{"run", "w", "--steps", "0"}, "--steps takes a whole number"},
        Mistake{{"run", "w", "--steps", "1", "--steps", "2"}, "--steps"},
        Mistake{{"run", "w", "--warmup", "-1"}, "--warmup"}, Mistake{{"run", "w", "--ranks", "0"}, "--ranks"},
        Mistake{{"run", "w", "--device", "gpu"}, "auto, cpu or cuda"},
        Mistake{{"run", "w", "--mode", "warm"}, "unknown mode 'warm'"},
        Mistake{{"run", "w", "--sync", "never"}, "never"}, Mistake{{"run", "w", "--mode", "Hot"}, "hot"},
        Mistake{{"run", "w", "--mode", ""}, "mode"}, Mistake{{"run", "w", "--against", ""}, "--against takes WORKLOAD"},
        Mistake{{"run", "w", "--against", ":n=1"}, "--against takes"},
        Mistake{{"run", "w", "--against", "v:n=1,m"}, "--against takes parameter=value"},
        Mistake{{"run", "w", "--against", "v", "--against", "u"}, "--against"},
        Mistake{{"verify", "w", "--against", "v"}, "--against"},
        Mistake{{"run", "w", "--passes", "counters"}, "verify, time, memory, trace, ops"},
        Mistake{{"run", "w", "--trace-detail", "all"}, "memsets, synchronization, pauses, api, shapes"},
        Mistake{{"run", "w", "--keep", "some"}, "summary"},
        Mistake{{"run", "w", "--observed-steps", "0"}, "--observed-steps"},
        Mistake{{"run", "w", "--kernel-classes", "/no/such/file.toml"}, "/no/such/file.toml"},
        Mistake{{"run", "w", "--until", "2"}, "--until"},
        Mistake{{"run", "w", "--until", "1%", "--steps", "3"}, "mutually exclusive"},
        Mistake{{"run", "w", "--timeout", "soon"}, "--timeout"},
        Mistake{{"run", "w", "--host-memory", "much"}, "--host-memory"},
        Mistake{{"run", "w", "--shard", "3/2"}, "--shard"},
        Mistake{{"run", "w", "--set", "p"}, "--set takes parameter=value"},
        Mistake{{"run", "w", "--axis", "=1"}, "--axis takes"}, Mistake{{"run", "w", "--repeat", "0"}, "--repeat"},
        Mistake{{"run", "w", "--seed", "-1"}, "--seed"},
        Mistake{{"run", "w", "--no-verify", "--passes", "verify"}, "removes the only selected pass"},
        Mistake{{"run", "w", "--wrap", "no-such-program-here"}, "no program"},
        Mistake{{"run", "./missing.so"}, "no such plugin file"},
        Mistake{{"run", "./missing.so:w"}, "no such plugin file"},
        Mistake{{"describe", "missing.so"}, "no such plugin file"}, Mistake{{"suite", "run", "quik"}, "unknown suite"},
        Mistake{{"suite", "run", "./no.toml"}, "no such suite file"},
        Mistake{{"sql", "SELECT 1"}, "no such database: 'kymo.db'"},
        Mistake{{"sql", "SELECT 1", "--json", "--csv"}, "--csv"},
        Mistake{{"sql", "SELECT 1", "--write"}, "unknown option '--write'"},
        Mistake{{"report", "quick", "--db", "none.db"}, "no such database: 'none.db'"},
        Mistake{{"report", "quick", "--invocation", "x"}, "--invocation"}, Mistake{{"merge", "all.db"}, "source"},
        Mistake{{"merge", "all.db", "none.db"}, "no such database: 'none.db'"},
        Mistake{{"new", "Not-A-Name"}, "Not-A-Name"}, Mistake{{"build", "missing.cpp"}, "no such source file"},
        Mistake{{"build", "kernel.cu"}, "one C++ source"},
        Mistake{{"worker", "--connect", "nowhere", "--rank", "0"}, "HOST:PORT"},
        Mistake{{"worker", "--connect", "127.0.0.1:1", "--rank", "0"}, "KYMO_WORKER_TOKEN"}));

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

}  // namespace
}  // namespace kymo::cli

// SPDX-License-Identifier: Apache-2.0
#include "plan/program_plan.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "cli/ab_candidates.hpp"

namespace kymo::cli {
using namespace plan;
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ShellWords, AreThoseOfAShell) {
  EXPECT_THAT(shell_words(" python  train.py\t--lr 1 "), ElementsAre("python", "train.py", "--lr", "1"));
  EXPECT_THAT(shell_words(R"(a'b c'"d $e" '' f\ g "\"" '\')"), ElementsAre("ab cd $e", "", "f g", "\"", "\\"));
  EXPECT_THAT(shell_words("  "), IsEmpty());
  EXPECT_THROW(shell_words("python 'train.py"), UsageError);
  EXPECT_THROW(shell_words("python \"train.py"), UsageError);
}

TEST(ProgramPlan, VariablesInFrontOfTheCommandAreItsEnvironment) {
  const auto run = plan_program({{"LR=0.1", "_a=b c", "/bin/echo", "B=1"}, DeviceChoice::kCpu});
  EXPECT_THAT(run.program.command, ElementsAre("/bin/echo", "B=1"));
  EXPECT_THAT(run.program.environment, ElementsAre(Pair("LR", "0.1"), Pair("_a", "b c")));
  EXPECT_EQ(measure::to_text(run.what.parameters.at("environment")), "LR=0.1 '_a=b c'");
  EXPECT_EQ(measure::to_text(run.what.parameters.at("arguments")), "B=1");
  EXPECT_THROW(plan_program({{"LR=0.1"}, DeviceChoice::kCpu}), UsageError);
  const auto with_env = plan_program({{"/usr/bin/env", "LR=0.1", "/bin/echo", "B=1"}, DeviceChoice::kCpu});
  EXPECT_THAT(with_env.program.command, ElementsAre("/bin/echo", "B=1"));
  EXPECT_THAT(with_env.program.environment, ElementsAre(Pair("LR", "0.1")));
  EXPECT_THAT(plan_program({{"env", "-i", "A=1"}, DeviceChoice::kCpu}).program.command,
              ElementsAre("env", "-i", "A=1"));
  const auto without = plan_program({{"/bin/echo", "B=1"}, DeviceChoice::kCpu});
  EXPECT_FALSE(without.what.parameters.contains("environment"));
  EXPECT_NE(measure::equivalence_key(run, measure::Equivalence::kCase),
            measure::equivalence_key(without, measure::Equivalence::kCase));
}

TEST(AbCandidates, WithASpaceAreCommandsOfProgramsIfTheyStartPython) {
  const auto kind = [](const std::vector<std::string>& candidates, const CommandOptions& commands = {},
                       const RunOptions& options = {}) { return kind_of(candidates, commands, options); };
  EXPECT_EQ(kind({"saxpy", "saxpy:n=8"}), CandidateKind::kWorkloads);
  EXPECT_THROW(kind({"saxpy", "python b.py"}), UsageError);
  EXPECT_THROW(kind({"saxpy", "saxpy:n=8"}, {.prepare = "sync"}), UsageError);
  EXPECT_EQ(kind({"python a.py", "LR=1 python -u b.py", "torchrun c.py"}), CandidateKind::kPrograms);
  EXPECT_EQ(kind({"python a.py", "./b x"}), CandidateKind::kWholeCommands);
  EXPECT_EQ(kind({"python -c pass", "python -c 1"}), CandidateKind::kWholeCommands);
  EXPECT_EQ(kind({"cd a && python a.py", "python b.py"}), CandidateKind::kWholeCommands);
  EXPECT_EQ(kind({"python a.py", "python b.py"}, {.all = true}), CandidateKind::kWholeCommands);
  EXPECT_EQ(kind({"python a.py", "python b.py"}, {.prepare = "sync"}), CandidateKind::kWholeCommands);
  EXPECT_EQ(kind({"ls", "true"}, {.all = true}), CandidateKind::kWholeCommands);
  RunOptions steps;
  steps.give(measure::setting("steps"), "5");
  EXPECT_EQ(kind({"./train.sh 1", "./train.sh 2"}, {}, steps), CandidateKind::kPrograms);
}

TEST(AbCandidates, NeedAShellForItsSyntaxAndItsBuiltins) {
  for (const char* direct : {"sleep 0.1", "echo 'a*b' \"c|d\" e\\;f", "env A=1 true", "/bin/echo x=1"})
    EXPECT_FALSE(needs_shell(direct)) << direct;
  for (const char* in_shell :
       {"echo a | cat", "echo *", "echo \"$HOME\"", "A=1 true", "cd /tmp", "true; true", "echo \"a\\b\""})
    EXPECT_TRUE(needs_shell(in_shell)) << in_shell;
  EXPECT_THROW(needs_shell("no-such-program x"), UsageError);
  EXPECT_THROW(needs_shell(" "), UsageError);
  EXPECT_THROW(needs_shell("echo 'a"), UsageError);
}

TEST(AbCommands, AreRunByAShellIfOneNeedsIt) {
  const auto direct = planned_commands({"sleep 0.1", "sleep 0.1"}, {}, {});
  EXPECT_THAT(direct[0].command.words, ElementsAre("sleep", "0.1"));
  EXPECT_EQ(direct[0].what.workload, "sleep 0.1");
  EXPECT_EQ(direct[0].method.warmup, 1);
  RunOptions options;
  options.give(measure::setting("warmup"), "3");
  options.give(measure::setting("min-time"), "2");
  const auto in_shell = planned_commands({"sleep 0.1", "true | true"}, {.prepare = "sync"}, options);
  EXPECT_THAT(in_shell[0].command.words, ElementsAre("sh", "-c", "sleep 0.1"));
  EXPECT_TRUE(in_shell[0].command.in_shell);
  EXPECT_THAT(in_shell[0].command.prepare, ElementsAre("sh", "-c", "sync"));
  EXPECT_EQ(in_shell[0].method.warmup, 3);
  EXPECT_EQ(in_shell[0].method.until->min_seconds, 2);
  EXPECT_NE(measure::equivalence_key(in_shell[0], measure::Equivalence::kCase),
            measure::equivalence_key(direct[0], measure::Equivalence::kCase));
  options.give(measure::setting("steps"), "5");
  EXPECT_THROW(planned_commands({"sleep 0.1", "true x"}, {}, options), UsageError);
}

TEST(AbPrograms, StopOnlyAfterAGivenNumberOfSteps) {
  RunOptions options;
  options.device = DeviceChoice::kCpu;
  const auto to_the_end = planned_programs({"/bin/echo a", "/bin/echo b"}, std::nullopt, options);
  EXPECT_EQ(to_the_end[0].program.stop, false);
  EXPECT_EQ(to_the_end[0].method.steps, measure::kMaxFreeSteps);
  EXPECT_THAT(to_the_end[0].method.passes, ElementsAre(measure::Pass::kTime));
  options.give(measure::setting("steps"), "20");
  options.give(measure::setting("warmup"), "7");
  const auto some = planned_programs({"/bin/echo a", "/bin/echo b"}, 2, options);
  EXPECT_EQ(some[1].program.stop, true);
  EXPECT_EQ(some[1].method.warmup, 7);
  EXPECT_EQ(some[1].method.steps, 20);
  EXPECT_EQ(some[1].what.ranks, 2);
  options.give(measure::setting("until"), "0.01");
  EXPECT_THROW(planned_programs({"/bin/echo a", "/bin/echo b"}, std::nullopt, options), UsageError);
}

}  // namespace
}  // namespace kymo::cli

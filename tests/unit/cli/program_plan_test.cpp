// SPDX-License-Identifier: Apache-2.0
#include "cli/program_plan.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "cli/ab_programs.hpp"

namespace kymo::cli {
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

TEST(AbPrograms, CandidatesWithASpaceAreCommands) {
  EXPECT_TRUE(are_programs({"python a.py", "python b.py"}));
  EXPECT_FALSE(are_programs({"saxpy", "saxpy:n=8"}));
  EXPECT_THROW(are_programs({"saxpy", "python b.py"}), UsageError);
}

TEST(AbPrograms, StopOnlyAfterAGivenNumberOfSteps) {
  RunOptions options;
  options.device = DeviceChoice::kCpu;
  const auto to_the_end = planned_programs({"/bin/echo a", "/bin/echo b"}, std::nullopt, options);
  EXPECT_EQ(to_the_end[0].program.stop, false);
  EXPECT_EQ(to_the_end[0].method.steps, measure::kMaxFreeSteps);
  EXPECT_THAT(to_the_end[0].method.passes, ElementsAre(measure::Pass::kTime));
  options.steps = 20;
  options.warmup = 7;
  const auto some = planned_programs({"/bin/echo a", "/bin/echo b"}, 2, options);
  EXPECT_EQ(some[1].program.stop, true);
  EXPECT_EQ(some[1].method.warmup, 7);
  EXPECT_EQ(some[1].method.steps, 20);
  EXPECT_EQ(some[1].what.ranks, 2);
  options.until = 0.01;
  EXPECT_THROW(planned_programs({"/bin/echo a", "/bin/echo b"}, std::nullopt, options), UsageError);
}

}  // namespace
}  // namespace kymo::cli

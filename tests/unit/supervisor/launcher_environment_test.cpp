// SPDX-License-Identifier: Apache-2.0
#include "supervisor/launcher_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.hpp"

namespace kymo::supervisor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

const Variables kTorchrun{
    {"RANK", "3"},          {"WORLD_SIZE", "4"},      {"LOCAL_RANK", "1"},           {"LOCAL_WORLD_SIZE", "2"},
    {"MASTER_ADDR", "one"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "abc"}};
const Variables kSlurm{{"SLURM_JOB_ID", "12"},
                       {"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", "2"},
                       {"SLURM_NTASKS", "3"},
                       {"SLURM_STEP_NUM_TASKS", "3"},
                       {"SLURM_LOCALID", "0"},
                       {"SLURM_NODEID", "1"},
                       {"SLURM_STEP_NODELIST", "n[08-09]"},
                       {"SLURM_STEP_TASKS_PER_NODE", "2,1"}};

Variables with(Variables variables, const Variables& changes) {
  for (const auto& [name, value] : changes) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

std::optional<LauncherEnvironment> launcher_from(const Variables& variables) {
  return read_launcher_environment(
      [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      [](const std::string& host) { return host != "nowhere"; });
}

std::string failure_reason(const Variables& variables) {
  try {
    launcher_from(variables);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(LaunchEnvironment, ReadsTorchrun) {
  const auto launcher_env = launcher_from(kTorchrun);
  ASSERT_TRUE(launcher_env);
  EXPECT_EQ(launcher_env->launcher, "torchrun");
  EXPECT_EQ(launcher_env->identity, "torchrun abc at one:29500");
  EXPECT_EQ(launcher_env->rank, 3);
  EXPECT_EQ(launcher_env->world_size, 4);
  EXPECT_EQ(launcher_env->local_rank, 1);
  EXPECT_EQ(launcher_env->gpu, 1);
  EXPECT_EQ(launcher_env->gpus_needed, 2);
  EXPECT_EQ(launcher_env->port, 29501) << "MASTER_PORT itself belongs to torchrun";
  EXPECT_EQ(launcher_env->rendezvous_host(), "one");
  EXPECT_FALSE(launcher_env->leads());
  EXPECT_EQ(launcher_env->join_timeout_s, 30);
}

TEST(LaunchEnvironment, MeetsOnTheLoopbackInterfaceOfOneMachine) {
  const auto launcher_env =
      launcher_from(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "4"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}}));
  ASSERT_TRUE(launcher_env);
  EXPECT_EQ(launcher_env->rendezvous_host(), "127.0.0.1");
  EXPECT_TRUE(launcher_env->leads());
}

TEST(LaunchEnvironment, ReadsSrun) {
  const auto launcher_env = launcher_from(kSlurm);
  ASSERT_TRUE(launcher_env);
  EXPECT_EQ(launcher_env->launcher, "srun");
  EXPECT_EQ(launcher_env->identity, "srun 12.0");
  EXPECT_EQ(launcher_env->rank, 2);
  EXPECT_EQ(launcher_env->world_size, 3);
  EXPECT_EQ(launcher_env->local_world_size, 1);
  EXPECT_EQ(launcher_env->leader_host, "n08");
  EXPECT_GE(launcher_env->port, 20'000);
  EXPECT_LT(launcher_env->port, 32'000);
  EXPECT_NE(launcher_env->port, launcher_from(with(kSlurm, {{"SLURM_STEP_ID", "1"}}))->port) << "two steps of one job";
}

TEST(LaunchEnvironment, TakesItsOwnGpuWhereSlurmGivesOneToEachTask) {
  const Variables one_node = with(kSlurm, {{"SLURM_STEP_NODELIST", "n08"}, {"SLURM_LOCALID", "2"}});
  EXPECT_EQ(launcher_from(one_node)->gpu, 2);
  EXPECT_EQ(launcher_from(one_node)->gpus_needed, 3);
  for (int task = 0; task < 3; ++task) {
    const std::string number = std::to_string(task);
    const auto launcher_env = launcher_from(
        with(one_node, {{"SLURM_GPUS_PER_TASK", "1"}, {"SLURM_PROCID", number}, {"SLURM_LOCALID", number}}));
    EXPECT_EQ(launcher_env->local_rank, task);
    EXPECT_EQ(launcher_env->gpu, 0);
    EXPECT_EQ(launcher_env->gpus_needed, 1);
  }
}

TEST(LaunchEnvironment, PlainShellsAreNoLaunch) {
  EXPECT_FALSE(launcher_from({}));
  EXPECT_FALSE(launcher_from({{"MASTER_ADDR", "nowhere"}, {"MASTER_PORT", "x"}})) << "left over in a shell's profile";
  EXPECT_FALSE(
      launcher_from({{"SLURM_JOB_ID", "12"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}}))
      << "a batch script";
  EXPECT_FALSE(launcher_from(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}})))
      << "a step of one task";
  EXPECT_FALSE(launcher_from(with(kSlurm, {{"SLURM_STEP_ID", "4294967290"}}))) << "an interactive step";
  EXPECT_FALSE(launcher_from(with(kSlurm, {{"SLURM_STEP_ID", "batch"}})));
  EXPECT_FALSE(launcher_from(
      with(kTorchrun, {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}})));
}

TEST(LaunchEnvironment, ReadsSettings) {
  const auto launcher_env =
      launcher_from(with(kTorchrun, {{"KYMO_PORT", "7000"}, {"KYMO_JOB_TOKEN", "secret"}, {"KYMO_JOIN_TIMEOUT", "5"}}));
  EXPECT_EQ(launcher_env->port, 7000);
  EXPECT_EQ(launcher_env->token, "secret");
  EXPECT_EQ(launcher_env->join_timeout_s, 5);
  EXPECT_EQ(launcher_from(with(kTorchrun, {{"MASTER_PORT", "32766"}}))->port, 32767);
  EXPECT_EQ(launcher_from(with(kTorchrun, {{"MASTER_PORT", "32767"}}))->port, 28767)
      << "32768 and more the system may have given to anyone";
  EXPECT_EQ(launcher_from(with(kTorchrun, {{"MASTER_PORT", "65535"}}))->port, 25535);
}

TEST(LaunchEnvironment, ScriptsMayDeriveTheOneFromTheOther) {
  Variables both = kSlurm;
  both.merge(without(Variables(kTorchrun), "TORCHELASTIC_RUN_ID"));
  EXPECT_EQ(launcher_from(with(both, {{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"LOCAL_RANK", "0"}}))->launcher, "torchrun");
  EXPECT_THAT(failure_reason(both), AllOf(HasSubstr("WORLD_SIZE is 4"), HasSubstr("SLURM_STEP_NUM_TASKS is 3")));
  EXPECT_THAT(failure_reason(with(both, {{"RANK", "1"}, {"WORLD_SIZE", "3"}})),
              AllOf(HasSubstr("RANK is 1"), HasSubstr("SLURM_PROCID is 2")));
  EXPECT_EQ(launcher_from(with(both, {{"TORCHELASTIC_RUN_ID", "x"}}))->world_size, 4)
      << "torchrun itself, one agent in each task";
}

struct ErrorCase {
  Variables variables;
  std::string names;
  std::string right;
};

TEST(LaunchEnvironment, ContradictionsNameTheVariableAndWhatIsRight) {
  const std::vector<ErrorCase> error_cases{
      {{{"RANK", "0"}}, "WORLD_SIZE is not set", "MASTER_PORT together"},
      {without(kTorchrun, "RANK"), "RANK is not set", "torchrun"},
      {without(kTorchrun, "LOCAL_RANK"), "LOCAL_RANK is not set", "torchrun"},
      {without(kTorchrun, "LOCAL_WORLD_SIZE"), "LOCAL_WORLD_SIZE is not set", "torchrun"},
      {without(kTorchrun, "MASTER_ADDR"), "MASTER_ADDR is not set", "torchrun"},
      {without(kTorchrun, "MASTER_PORT"), "MASTER_PORT is not set", "torchrun"},
      {with(kTorchrun, {{"MASTER_ADDR", ""}}), "MASTER_ADDR is not set", "torchrun"},
      {with(kTorchrun, {{"RANK", "4"}}), "RANK is 4 but WORLD_SIZE is 4", "smaller"},
      {with(kTorchrun, {{"LOCAL_RANK", "2"}}), "LOCAL_RANK is 2 but LOCAL_WORLD_SIZE is 2", "smaller"},
      {with(kTorchrun, {{"LOCAL_WORLD_SIZE", "5"}}), "LOCAL_WORLD_SIZE is 5", "must not exceed WORLD_SIZE"},
      {with(kTorchrun, {{"RANK", "one"}}), "RANK is 'one'", "whole number from 0"},
      {with(kTorchrun, {{"RANK", "-1"}}), "RANK is '-1'", "whole number from 0"},
      {with(kTorchrun, {{"RANK", "1 "}}), "RANK is '1 '", "whole number"},
      {with(kTorchrun, {{"WORLD_SIZE", "99999999999999999999"}}), "WORLD_SIZE is", "whole number from 1"},
      {with(kTorchrun, {{"MASTER_PORT", "0"}}), "MASTER_PORT is '0'", "1 to 65535"},
      {with(kTorchrun, {{"MASTER_ADDR", "nowhere"}}), "MASTER_ADDR is 'nowhere'", "rank 0's machine"},
      {with(kTorchrun, {{"KYMO_PORT", "70000"}}), "KYMO_PORT is '70000'", "1 to 65535"},
      {with(kTorchrun, {{"KYMO_JOIN_TIMEOUT", "soon"}}), "KYMO_JOIN_TIMEOUT is 'soon'", "whole number"},
      {with(kTorchrun, {{"KYMO_JOB_TOKEN", std::string(257, 'x')}}), "KYMO_JOB_TOKEN has 257 bytes", "256"},
      {without(kSlurm, "SLURM_PROCID"), "SLURM_PROCID is not set", "srun step"},
      {without(kSlurm, "SLURM_LOCALID"), "SLURM_LOCALID is not set", "srun step"},
      {without(kSlurm, "SLURM_JOB_ID"), "SLURM_JOB_ID is not set", "srun step"},
      {without(kSlurm, "SLURM_STEP_NODELIST"), "SLURM_STEP_NODELIST is not set", "srun step"},
      {with(kSlurm, {{"SLURM_PROCID", "3"}}), "SLURM_PROCID is 3", "smaller"},
      {with(kSlurm, {{"SLURM_LOCALID", "1"}}), "SLURM_LOCALID is 1", "smaller"},
      {with(kSlurm, {{"SLURM_NODEID", "2"}}), "SLURM_NODEID is 2", "smaller"},
      {with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "many"}}), "SLURM_STEP_NUM_TASKS is 'many'", "whole number"},
      {with(kSlurm, {{"SLURM_STEP_NODELIST", "n[1-"}}), "SLURM_STEP_NODELIST is 'n[1-'", "node[01-04,7]"},
      {with(kSlurm, {{"SLURM_STEP_NODELIST", "nowhere,b"}}), "SLURM_STEP_NODELIST is 'nowhere'", "rank 0's machine"},
      {with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}}), "SLURM_STEP_TASKS_PER_NODE is '2(x'", "2(x3),1"},
  };
  for (const auto& error_message : error_cases) {
    const std::string said = failure_reason(error_message.variables);
    EXPECT_THAT(said, AllOf(HasSubstr(error_message.names), HasSubstr(error_message.right)));
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
}

TEST(SlurmLists, ExpandsNodes) {
  const auto nodes = [](const std::string& list) { return expand_nodes(list, "LIST"); };
  EXPECT_THAT(nodes("a"), ElementsAre("a"));
  EXPECT_THAT(nodes("node[01-04,7]"), ElementsAre("node01", "node02", "node03", "node04", "node7"));
  EXPECT_THAT(nodes("a,b[1-2],c"), ElementsAre("a", "b1", "b2", "c"));
  EXPECT_THAT(nodes("n[9-11]"), ElementsAre("n9", "n10", "n11"));
  EXPECT_THAT(nodes("r[1-2]n[3,5].site"), ElementsAre("r1n3.site", "r1n5.site", "r2n3.site", "r2n5.site"));
}

TEST(SlurmLists, RejectsWhatIsNone) {
  for (const char* list : {"", ",", "a,", "a[", "a]", "a[]", "a[1-]", "a[-1]", "a[2-1]", "a[x]", "a[[1]]", "a[1",
                           "a[1-999999999]", "a[+1]", "a[1-60000]b[1-60000]", "[1-99999999999999999999]"})
    EXPECT_THROW(expand_nodes(list, "LIST"), UsageError) << list;
  for (const char* list : {"", ",", "x", "2(x", "2(x)", "(x2)", "2(xy)", "-1", "2(x99999999)", "2(x3)4"})
    EXPECT_THROW(expand_tasks(list, "LIST"), UsageError) << list;
}

TEST(SlurmLists, ExpandsTasks) {
  EXPECT_THAT(expand_tasks("2(x3),1", "LIST"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(expand_tasks("4", "LIST"), ElementsAre(4));
}

}  // namespace
}  // namespace kymo::supervisor

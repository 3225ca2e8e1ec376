// SPDX-License-Identifier: Apache-2.0
#include "store/step_journal.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "store/open.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using measure::Pass;
using ::testing::Optional;

JournalHeader header(std::optional<std::int64_t> steps = 10) {
  JournalHeader header{.warmup = 2, .steps = steps, .device = {}};
  header.device.uuid = "a-device";
  header.device.kind = "cpu";
  header.device.name = "a processor";
  return header;
}

/// A step of 1000 + `step` ns with phase "forward", which was entered twice.
std::vector<event::Sample> samples_of(std::int64_t step) {
  event::Sample whole;
  whole.step = step;
  whole.phase = event::kWholeStep;
  whole.warmup = step < 2;
  whole.host_ns = 1000 + step;
  whole.cpu_ns = 7;
  event::Sample forward = whole;
  forward.phase = "forward";
  forward.calls = 2;
  forward.cpu_ns.reset();
  return {whole, forward};
}

class Journal : public StoreTest {
 protected:
  std::filesystem::path rank_file() const { return path("RUN-3-1-ops.kymo"); }
  std::filesystem::path journal_file() const { return path("RUN-3-1-ops.kymo.steps"); }
  std::optional<std::int64_t> recover() { return recover_from_journal(rank_file(), 3, 1, Pass::kOps); }
};

TEST_F(Journal, StepsOfAKilledProcessAreRecovered) {
  const pid_t child = fork();
  if (child == 0) {
    StepJournal journal(rank_file(), header());
    event::Metric metric;
    metric.name = "first_step";
    metric.number = 2;
    for (std::int64_t step = 0; step < 5; ++step) journal.add(samples_of(step), {&metric, step == 0 ? 1u : 0u});
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(recover(), Optional(3));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->text("SELECT group_concat(step || ':' || host_ns || ':' || calls || ':' || warmup, ' ') FROM sample "
                        "WHERE run_id = 3 AND rank = 1 AND pass = 'ops' AND phase = 'forward'"),
            "0:1000:2:1 1:1001:2:1 2:1002:2:0 3:1003:2:0 4:1004:2:0");
  EXPECT_EQ(found->integer("SELECT count(*) FROM sample WHERE cpu_ns = 7 AND device_ns IS NULL"), 5);
  EXPECT_EQ(found->text("SELECT level || value || name FROM metric"), "run2.0first_step");
  EXPECT_EQ(found->text("SELECT kind || ': ' || detail FROM warning"),
            "fewer steps: the program ended after 3 of the 10 steps to measure");
  EXPECT_EQ(found->text("SELECT name FROM device"), "a processor");
  EXPECT_EQ(found->integer("SELECT count(*) FROM dropped_record WHERE source = 'store' AND count = -1"), 1);
  EXPECT_FALSE(std::filesystem::exists(journal_file()));
}

TEST_F(Journal, ManyStepsNeedSeveralChunks) {
  {
    StepJournal journal(rank_file(), header(std::nullopt));
    for (std::int64_t step = 0; step < 12'345; ++step) journal.add(samples_of(step), {});
  }
  EXPECT_THAT(recover(), Optional(12'343));
  const auto found = open_rank_file(rank_file(), own_schema());
  EXPECT_EQ(found->integer("SELECT count(*) FROM sample WHERE host_ns = 1000 + step"), 2 * 12'345);
  EXPECT_EQ(found->integer("SELECT count(*) FROM warning"), 0);  // the program decided the number of steps
}

TEST_F(Journal, ACompleteRankFileIsKept) {
  StepJournal journal(rank_file(), header());
  journal.add(samples_of(0), {});
  write_rank_file(rank_file(), 3, 1, Pass::kOps, make_record());
  EXPECT_EQ(recover(), std::nullopt);
  EXPECT_EQ(open_rank_file(rank_file(), own_schema())->integer("SELECT count(*) FROM sample"), 24);
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(journal_file()));
}

TEST_F(Journal, DamageIsAnErrorWithoutARankFile) {
  for (const std::string& content : {std::string(256 << 10, '\xff'), std::string(256 << 10, '\1')}) {
    put_content(journal_file(), content);
    EXPECT_ANY_THROW(recover());
    recover_journals(folder());  // other ranks are not affected
    EXPECT_FALSE(std::filesystem::exists(rank_file()));
  }
  put_content(journal_file(), "short");
  EXPECT_THAT(recover(), Optional(0));
}

TEST_F(Journal, AFolderIsRecovered) {
  {
    StepJournal(rank_file(), header()).add(samples_of(2), {});
  }
  recover_journals(folder());
  EXPECT_EQ(open_rank_file(rank_file(), own_schema())->integer("SELECT count(*) FROM sample"), 2);
}

}  // namespace
}  // namespace kymo::store::testing

// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "store/open.hpp"
#include "store/results.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

class Kill : public StoreTest {};

constexpr int kRounds = 50;
constexpr std::int64_t kMarks = 3'000;

event::PassRecord record_with_marks() {
  event::PassRecord record = make_record();
  for (std::int64_t i = 1; i < kMarks; ++i) record.marks.push_back({"mark", i, -1});
  return record;
}

/// Finishes one run after another until it is killed; writes a byte to `ready` before each.
[[noreturn]] void finish_for_ever(const std::filesystem::path& file, const std::filesystem::path& rank_file,
                                  int ready) {
  ResultsDatabase database(file, Mode::kReadWrite);
  for (;;) {
    if (::write(ready, "x", 1) != 1) ::_exit(1);
    database.finalize_run(1, Outcome{}, {}, {rank_file});
  }
}

TEST_F(Kill, NeverLeavesHalfARun) {
  const auto file = rank_file_name(folder(), 1, 0, measure::Pass::kTime);
  write_rank_file(file, 1, 0, measure::Pass::kTime, record_with_marks());
  std::mt19937 random(1);
  int journals = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove(path("a.db"));
    {
      ResultsDatabase database(path("a.db"), Mode::kCreate);
      database.begin_run(make_run(database.begin_invocation("x", {})));
    }
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) finish_for_ever(path("a.db"), file, ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::usleep(std::uniform_int_distribution<unsigned>(0, 60'000)(random));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    journals += std::filesystem::exists(path("a.db-journal")) ? 1 : 0;
    ResultsDatabase database(path("a.db"), round % 2 == 0 ? Mode::kReadOnly : Mode::kReadWrite);
    const std::string state = ask(database,
                                  "SELECT status, (SELECT count(*) FROM mark), (SELECT count(*) FROM sample), (SELECT "
                                  "count(*) FROM statistic) FROM run");
    EXPECT_TRUE(state == "running|0|0|0" || state == "ok|3000|24|3") << state;
    EXPECT_EQ(Connection(path("a.db"), Connection::Access::kReadOnly).text("PRAGMA integrity_check"), "ok");
  }
  RecordProperty("rounds_that_left_a_journal", journals);
}

TEST_F(Kill, CreationIsAllOrNothing) {
  std::mt19937 random(2);
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove(path("a.db"));
    std::filesystem::remove(path("a.db-journal"));
    const pid_t child = ::fork();
    if (child == 0) {
      ResultsDatabase(path("a.db"), Mode::kCreate);
      ::_exit(0);
    }
    ::usleep(std::uniform_int_distribution<unsigned>(0, 15'000)(random));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ResultsDatabase database(path("a.db"), Mode::kCreate);
    EXPECT_EQ(database.begin_invocation("x", {}), 1);
    EXPECT_EQ(ask(database, "SELECT count(*) FROM run_list"), "0");
  }
}

}  // namespace
}  // namespace kymo::store::testing

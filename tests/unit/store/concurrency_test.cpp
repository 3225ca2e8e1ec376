// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "base/error.hpp"
#include "store/open.hpp"
#include "store/results.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

class Concurrency : public StoreTest {};

constexpr int kWriters = 8;
constexpr int kRuns = 25;

/// Repeats an action while other processes lock the file for longer than the limit, as its error advises. On a busy
/// machine, seven other writers may do so.
template <typename Action>
auto patiently(const Action& action) {
  for (;;) {
    try {
      return action();
    } catch (const Error& error) {
      if (std::string(error.what()).find("another process locked the file") == std::string::npos) throw;
    }
  }
}

int write_runs(const std::filesystem::path& file, const std::filesystem::path& scratch) {
  const auto database = patiently([&] { return std::make_unique<ResultsDatabase>(file, Mode::kCreate); });
  const std::int64_t invocation = patiently([&] { return database->begin_invocation("writer", {}); });
  for (int i = 0; i < kRuns; ++i) {
    const std::int64_t run_id = patiently([&] { return database->begin_run(make_run(invocation, i)); });
    const auto rank_file = rank_file_name(scratch, run_id, 0, measure::Pass::kTime);
    write_rank_file(rank_file, run_id, 0, measure::Pass::kTime, make_record());
    patiently([&] { database->finalize_run(run_id, Outcome{}, {}, {rank_file}); });
  }
  patiently([&] { database->end_invocation(invocation, 0); });
  return 0;
}

TEST_F(Concurrency, EightWritersShareOneFileFromItsCreationOn) {
  std::vector<pid_t> writers;
  for (int i = 0; i < kWriters; ++i) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      int code = 1;
      try {
        code = write_runs(path("a.db"), folder());
      } catch (const std::exception& error) {
        std::fprintf(stderr, "writer: %s\n", error.what());
      }
      ::_exit(code);
    }
    writers.push_back(writer);
  }
  for (const pid_t writer : writers) {
    int status = -1;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const ResultsDatabase database(path("a.db"), Mode::kReadOnly);
  EXPECT_EQ(ask(database, "SELECT count(*), count(DISTINCT invocation_id) FROM run WHERE status = 'ok'"), "200|8");
  EXPECT_EQ(ask(database, "SELECT DISTINCT count(*) FROM run GROUP BY invocation_id"), "25");
  EXPECT_EQ(ask(database, "SELECT DISTINCT max(sequence) FROM run GROUP BY invocation_id"), "24");
  EXPECT_EQ(ask(database, "SELECT DISTINCT count(*) FROM sample GROUP BY run_id"), "24");
  EXPECT_EQ(ask(database, "SELECT count(*) FROM plugin"), "1");
  EXPECT_EQ(Connection(path("a.db"), Connection::Access::kReadOnly).text("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace kymo::store::testing

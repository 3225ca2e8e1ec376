// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include "store/open.hpp"
#include "store/results.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

class Concurrency : public StoreTest {};

constexpr int kWriters = 8;
constexpr int kRuns = 25;

int write_runs(const std::filesystem::path& file, const std::filesystem::path& scratch) {
  ResultsDatabase database(file, Mode::kCreate);
  const std::int64_t invocation = database.begin_invocation("writer", {});
  for (int i = 0; i < kRuns; ++i) store_run(database, invocation, scratch, i);
  database.end_invocation(invocation, 0);
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

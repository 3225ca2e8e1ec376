// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/error.hpp"
#include "store/open.hpp"
#include "store/results.hpp"
#include "unit/store/event_record.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using Mode = ResultsDatabase::Mode;

class DiskFull : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    std::filesystem::create_directories(path("small"));
  }
  static event::PassRecord large_record() {
    event::PassRecord record = make_record();
    for (std::int64_t i = 0; i < 40'000; ++i)
      record.marks.push_back({"a mark with a name of some length, number " + std::to_string(i), i, -1});
    return record;
  }
  /// The good run is intact, the failed one is still `running`, and the file is valid.
  static void expect_intact(const std::filesystem::path& file) {
    const ResultsDatabase database(file, Mode::kReadOnly);
    EXPECT_EQ(ask(database, "SELECT status FROM run ORDER BY run_id"), "ok;running");
    EXPECT_EQ(ask(database, "SELECT run_id, count(*) FROM sample GROUP BY run_id"), "1|24");
    EXPECT_EQ(Connection(file, Connection::Access::kReadOnly).text("PRAGMA integrity_check"), "ok");
  }
};

/// 0 if `action` throws an Error that contains `name` and mentions space or limits.
int expect_failure(const std::function<void()>& action, const std::string& name) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool clear = message.find(name) != std::string::npos && message.find("space") != std::string::npos &&
                       message.find('\n') == std::string::npos;
    if (!clear) std::fprintf(stderr, "unclear: %s\n", message.c_str());
    return clear ? 0 : 1;
  }
  return 2;
}

TEST_F(DiskFull, FileSizeLimitIsAnErrorAndOldRowsStay) {
  make_database(path("a.db"));
  const auto file = rank_file_name(folder(), 2, 0, measure::Pass::kTime);
  write_rank_file(file, 2, 0, measure::Pass::kTime, large_record());
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_DFL);
    ResultsDatabase database(path("a.db"), Mode::kReadWrite);
    const std::int64_t run_id = database.begin_run(make_run(1));
    const rlimit limit{1 << 20, 1 << 20};
    if (run_id != 2 || ::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 5;
    return expect_failure([&] { database.finalize_run(run_id, Outcome{}, {}, {file}); }, "a.db");
  });
  EXPECT_EQ(status, 0);
  expect_intact(path("a.db"));
}

TEST_F(DiskFull, RankFileThatDoesNotFitIsAbsent) {
  const auto file = path("small") / "RUN-1-0-time.kymo";
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{1 << 20, 1 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 5;
    return expect_failure([&] { write_rank_file(file, 1, 0, measure::Pass::kTime, large_record()); },
                          "RUN-1-0-time.kymo");
  });
  EXPECT_EQ(status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(path("small")))
    ADD_FAILURE() << entry.path().filename() << " was left behind";
}

/// make_event_record() with more kernels than fit into a file of 1 MiB.
event::PassRecord many_kernels() {
  event::PassRecord record = make_event_record();
  record.trace.activities.resize(60'000, record.trace.activities.front());
  return record;
}

void expect_samples_without_events(const std::filesystem::path& file) {
  const auto source = open_rank_file(file, own_schema());
  EXPECT_EQ(source->integer("SELECT count(*) FROM sample"), 8);
  EXPECT_EQ(source->integer("SELECT count(*) FROM kernel_total"), 2);
  EXPECT_EQ(source->integer("SELECT count(*) FROM gpu_activity") + source->integer("SELECT count(*) FROM op"), 0);
  EXPECT_EQ(source->integer("SELECT count FROM dropped_record WHERE source = 'store'"), 60'028);
  EXPECT_THAT(source->text("SELECT detail FROM dropped_record WHERE source = 'store'"),
              ::testing::AllOf(::testing::HasSubstr("gpu_activity 60000"), ::testing::HasSubstr("op 2"),
                               ::testing::HasSubstr("space")));
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
    EXPECT_EQ(entry.path(), file) << "left behind";
}

TEST_F(DiskFull, EventsThatDoNotFitAreDroppedRecordsAndSamplesSurvive) {
  const auto file = path("small") / "RUN-1-0-trace.kymo";
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{1 << 20, 1 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 5;
    write_rank_file(file, 1, 0, measure::Pass::kTrace, many_kernels());
    return 0;
  });
  EXPECT_EQ(status, 0);
  expect_samples_without_events(file);
}

TEST_F(DiskFull, EventsThatDoNotFitOnTheFileSystemAreDroppedRecordsAndSamplesSurvive) {
  const SmallDisk disk(path("small"), "1200k");
  SKIP_UNLESS_MOUNTED(disk);
  const auto file = path("small") / "RUN-1-0-trace.kymo";
  write_rank_file(file, 1, 0, measure::Pass::kTrace, many_kernels());
  expect_samples_without_events(file);
}

TEST_F(DiskFull, WithoutRoomForSamplesEitherNothingIsLeft) {
  const auto file = path("small") / "RUN-1-0-trace.kymo";
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{64 << 10, 64 << 10};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 5;
    return expect_failure([&] { write_rank_file(file, 1, 0, measure::Pass::kTrace, many_kernels()); },
                          "RUN-1-0-trace.kymo");
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(path("small")));
}

TEST_F(DiskFull, EveryPointOfFailureLeavesTheDatabaseWhole) {
  make_database(path("origin.db"));
  const auto file = rank_file_name(folder(), 2, 0, measure::Pass::kTime);
  write_rank_file(file, 2, 0, measure::Pass::kTime, large_record());
  {
    ResultsDatabase database(path("origin.db"), Mode::kReadWrite);
    ASSERT_EQ(database.begin_run(make_run(1)), 2);
  }
  const auto start = std::filesystem::file_size(path("origin.db"));
  int failures = 0;
  for (std::uintmax_t extra = 0; extra < 4'000'000; extra = extra * 2 + 10'000) {
    std::filesystem::copy_file(path("origin.db"), path("a.db"), std::filesystem::copy_options::overwrite_existing);
    const int status = in_child([&] {
      ResultsDatabase database(path("a.db"), Mode::kReadWrite);
      const rlimit limit{start + extra, start + extra};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 5;
      return expect_failure([&] { database.finalize_run(2, Outcome{}, {}, {file}); }, "a.db");
    });
    if (status != 0) {
      EXPECT_EQ(status, 2 << 8) << "it neither failed clearly nor fitted";
      EXPECT_EQ(ask(ResultsDatabase(path("a.db"), Mode::kReadOnly), "SELECT group_concat(status, ' ') FROM run"),
                "ok ok");
      continue;
    }
    ++failures;
    expect_intact(path("a.db"));
  }
  EXPECT_GT(failures, 2);
}

TEST_F(DiskFull, FullFileSystemIsAnErrorAndOldRowsStay) {
  const auto small = path("small");
  const SmallDisk disk(small, "2500k");
  SKIP_UNLESS_MOUNTED(disk);
  make_database(small / "a.db");
  const auto file = rank_file_name(folder(), 2, 0, measure::Pass::kTime);
  write_rank_file(file, 2, 0, measure::Pass::kTime, large_record());
  {
    ResultsDatabase database(small / "a.db", Mode::kReadWrite);
    ASSERT_EQ(database.begin_run(make_run(1)), 2);
    EXPECT_EQ(expect_failure([&] { database.finalize_run(2, Outcome{}, {}, {file}); }, "a.db"), 0);
    EXPECT_EQ(expect_failure([&] { write_rank_file(small / "x.kymo", 2, 0, measure::Pass::kTime, large_record()); },
                             "x.kymo"),
              0);
    EXPECT_FALSE(std::filesystem::exists(small / "x.kymo"));
    expect_intact(small / "a.db");
    // The same object continues once there is space: the run can be closed without its rows.
    database.finalize_run(2, Outcome{RunStatus::kFailed, "the disk was full"}, {}, {});
    EXPECT_EQ(ask(database, "SELECT status FROM run ORDER BY run_id"), "ok;failed");
  }
}

}  // namespace
}  // namespace kymo::store::testing

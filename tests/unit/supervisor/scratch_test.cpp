// SPDX-License-Identifier: Apache-2.0
#include "supervisor/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "base/error.hpp"
#include "unit/supervisor/supervised.hpp"

namespace kymo::supervisor {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

store::RunRow row(std::int64_t invocation) {
  const PlannedRun run = fake_run();
  store::RunRow result;
  result.invocation_id = invocation;
  result.plugin = run.plugin;
  result.what = run.what;
  result.method = run.method;
  return result;
}

constexpr const char* kStatuses = "SELECT run_id, status FROM run ORDER BY run_id";

TEST(Scratch, LeavesNothingBehindWhenItFinished) {
  TemporaryDatabase temporary;
  Scratch scratch(temporary.database, temporary.invocation);
  EXPECT_EQ(scratch.folder().parent_path(), temporary.scratch_root());
  write_file(scratch.rank_file(7, 0, measure::Pass::kTime), "x");
  write_file(scratch.rank_file(70, 1, measure::Pass::kVerify), "x");
  EXPECT_EQ(scratch.rank_file(70, 1, measure::Pass::kVerify).filename(), "RUN-70-1-verify.kymo");
  scratch.clear(7);
  EXPECT_FALSE(fs::exists(scratch.rank_file(7, 0, measure::Pass::kTime)));
  EXPECT_TRUE(fs::exists(scratch.rank_file(70, 1, measure::Pass::kVerify)));
  scratch.finish();
  EXPECT_FALSE(fs::exists(temporary.scratch_root()));
}

TEST(Scratch, RecoversWhatADeadSupervisorLeft) {
  TemporaryDatabase temporary;
  std::optional<Scratch> dead(std::in_place, temporary.database, temporary.invocation);
  const std::int64_t noted = temporary.database.begin_run(row(temporary.invocation));
  dead->note(noted);
  temporary.database.begin_run(row(temporary.invocation));  // killed before it could record this one
  const fs::path folder = dead->folder();
  write_file(dead->rank_file(noted, 0, measure::Pass::kTime), "x");
  dead.reset();
  ASSERT_TRUE(fs::exists(folder));
  const std::int64_t next = temporary.database.begin_invocation("kymo again", {});
  Scratch scratch(temporary.database, next);
  EXPECT_THAT(temporary.lines(kStatuses), ElementsAre("1|interrupted", "2|interrupted"));
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Scratch, LeavesNothingBehindAfterAnErrorWithoutResults) {
  TemporaryDatabase temporary;
  {
    const Scratch scratch(temporary.database, temporary.invocation);
  }
  EXPECT_FALSE(fs::exists(temporary.scratch_root()));
}

TEST(Scratch, LeavesALiveSupervisorAlone) {
  TemporaryDatabase temporary;
  Scratch live(temporary.database, temporary.invocation);
  live.note(temporary.database.begin_run(row(temporary.invocation)));
  temporary.database.begin_run(row(temporary.invocation));  // not recorded yet
  write_file(live.rank_file(1, 0, measure::Pass::kTime), "x");
  const std::int64_t next = temporary.database.begin_invocation("kymo beside it", {});
  Scratch other(temporary.database, next);
  EXPECT_NE(other.folder(), live.folder());
  EXPECT_THAT(temporary.lines(kStatuses), ElementsAre("1|running", "2|running"));
  EXPECT_TRUE(fs::exists(live.rank_file(1, 0, measure::Pass::kTime)));
  other.finish();
  EXPECT_TRUE(fs::exists(live.folder()));
}

TEST(Scratch, RecoversRunsWhoseFolderIsGone) {
  TemporaryDatabase temporary;
  temporary.database.begin_run(row(temporary.invocation));
  EXPECT_EQ(recover_abandoned(temporary.database), 1);
  EXPECT_THAT(temporary.lines(kStatuses), ElementsAre("1|interrupted"));
  EXPECT_EQ(recover_abandoned(temporary.database), 0);
  EXPECT_FALSE(fs::exists(temporary.scratch_root()));
}

TEST(Scratch, OnlyThisUserCanAccessIt) {
  TemporaryDatabase temporary;
  const Scratch scratch(temporary.database, temporary.invocation);
  for (const fs::path& folder : {temporary.scratch_root(), scratch.folder()})
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << folder;
}

TEST(Scratch, AccessToAnExistingFolderIsRestricted) {
  TemporaryDatabase temporary;
  fs::create_directory(temporary.scratch_root());
  fs::permissions(temporary.scratch_root(), fs::perms::all);
  const Scratch scratch(temporary.database, temporary.invocation);
  EXPECT_EQ(fs::status(temporary.scratch_root()).permissions(), fs::perms::owner_all);
}

TEST(Scratch, ALinkInItsPlaceIsRejectedAndNotFollowed) {
  TemporaryDatabase temporary;
  const fs::path elsewhere = temporary.folder / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_directory_symlink(elsewhere, temporary.scratch_root());
  try {
    const Scratch scratch(temporary.database, temporary.invocation);
    FAIL() << "the link was followed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("symbolic link"));
  }
  EXPECT_TRUE(fs::is_empty(elsewhere));
  EXPECT_EQ(recover_abandoned(temporary.database), 0) << "a reader ignores it";
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

TEST(Scratch, AFolderOfAnotherUserIsRejected) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  TemporaryDatabase temporary;
  fs::create_directory(temporary.scratch_root());
  ASSERT_EQ(chown(temporary.scratch_root().c_str(), 65534, 65534), 0);
  try {
    const Scratch scratch(temporary.database, temporary.invocation);
    FAIL() << "the folder of another user was used";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another user (uid 65534)"));
  }
}

TEST(Scratch, ALinkInPlaceOfALockIsNotFollowed) {
  TemporaryDatabase temporary;
  const fs::path target = temporary.folder / "target";
  fs::create_symlink(target, temporary.folder / "lock");
  EXPECT_THROW(FileLock::wait_for(temporary.folder / "lock"), Error);
  EXPECT_THROW(FileLock::try_existing(temporary.folder / "lock"), Error);
  EXPECT_FALSE(fs::exists(target));
}

TEST(Scratch, WaitingForALockEnds) {
  TemporaryDatabase temporary;
  const fs::path file = temporary.folder / "lock";
  const FileLock held = FileLock::wait_for(file);
  try {
    FileLock::wait_for(file, 0.05);
    FAIL() << "two locks at once";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another kymo process has held the lock"));
  }
}

TEST(Scratch, ALockGoesWithItsProcess) {
  TemporaryDatabase temporary;
  const fs::path file = temporary.folder / "lock";
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const FileLock held = FileLock::wait_for(file);
    if (write(ends[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_FALSE(FileLock::try_existing(file));
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(FileLock::try_existing(file));
  EXPECT_FALSE(FileLock::try_existing(temporary.folder / "none"));
  close(ends[0]);
  close(ends[1]);
}

TEST(Scratch, SaysThatTheFolderCannotBeMade) {
  TemporaryDatabase temporary;
  write_file(temporary.scratch_root(), "in the way");
  try {
    Scratch scratch(temporary.database, temporary.invocation);
    FAIL() << "a file is in the way";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("results.db.scratch"));
  }
}

}  // namespace
}  // namespace kymo::supervisor

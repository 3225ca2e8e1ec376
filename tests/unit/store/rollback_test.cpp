// SPDX-License-Identifier: Apache-2.0
#include "store/rollback.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.hpp"
#include "store/open.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Mode = ResultsDatabase::Mode;
namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
constexpr const char* kParameters = "SELECT count(*) FROM param";

/// A database whose last transaction was killed. Private copies are made in a folder that is checked afterwards.
class Rollback : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    fs::permissions(folder(), fs::perms(0755));
    fs::create_directories(path("tmp"));
    fs::permissions(path("tmp"), fs::perms(0777));
    ::setenv("TMPDIR", path("tmp").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    StoreTest::TearDown();
  }
  /// Returns the committed content of the file.
  std::string make_hot(const fs::path& file) const {
    fs::create_directories(file.parent_path());
    make_database(file);
    const std::string before = content_of(file);
    leave_hot_journal(file);
    EXPECT_TRUE(fs::exists(file.string() + "-journal"));
    EXPECT_FALSE(content_of(file) == before);
    return before;
  }
  /// The file and its journal stay as they are, reading sees the committed parameters and says that it uses a copy, and
  /// no copy is left.
  void expect_read_from_copy(const fs::path& file, uid_t user, const std::string& cause) const {
    const std::string database = content_of(file);
    const std::string journal = content_of(file.string() + "-journal");
    const int status = in_child([&] {
      if (user != 0 && (::setegid(user) != 0 || ::seteuid(user) != 0)) return 3;
      ::testing::internal::CaptureStderr();
      const ResultsDatabase reader(file, Mode::kReadOnly);
      const ResultsDatabase again(file, Mode::kReadOnly);
      const std::string warning = ::testing::internal::GetCapturedStderr();
      EXPECT_THAT(warning, AllOf(HasSubstr("private copy"), HasSubstr(cause)));
      EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1);
      EXPECT_EQ(ask(reader, kParameters), "4");
      EXPECT_EQ(ask(again, kParameters), "4");
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(content_of(file) == database);
    EXPECT_TRUE(content_of(file.string() + "-journal") == journal);
    EXPECT_TRUE(fs::is_empty(path("tmp")));
  }
};

TEST_F(Rollback, TakesPlaceInTheFileIfPossible) {
  const std::string committed = make_hot(path("a.db"));
  fs::create_symlink(path("a.db"), path("tmp") / "link.db");
  EXPECT_EQ(ask(ResultsDatabase(path("tmp") / "link.db", Mode::kReadOnly), kParameters), "4");
  EXPECT_TRUE(content_of(path("a.db")) == committed);
  EXPECT_FALSE(fs::exists(path("a.db-journal")));
}

TEST_F(Rollback, FileOfAnotherUserIsReadFromACopy) {
  if (::geteuid() != 0) GTEST_SKIP() << "changes the effective user to one who may not write";
  make_hot(path("a.db"));
  expect_read_from_copy(path("a.db"), kNobody, "not writable");
}

TEST_F(Rollback, WritableFileInAFolderThatIsNotIsReadFromACopy) {
  if (::geteuid() != 0) GTEST_SKIP() << "changes the effective user to one who may not write";
  const fs::path file = path("locked") / "a.db";
  const std::string committed = make_hot(file);
  for (const fs::path& each : {file, fs::path(file.string() + "-journal")})
    ASSERT_EQ(::chown(each.c_str(), kNobody, kNobody), 0);
  fs::permissions(path("locked"), fs::perms(0555));
  // The first reader restores the file, but may not remove the journal.
  in_child([&] {
    if (::seteuid(kNobody) != 0) return 3;
    ResultsDatabase(file, Mode::kReadOnly);
    return 0;
  });
  EXPECT_TRUE(content_of(file) == committed);
  expect_read_from_copy(file, kNobody, "directory is not writable");
}

TEST_F(Rollback, ReadOnlyFileSystemIsReadFromACopy) {
  const SmallDisk disk(path("disk"), "20m");
  SKIP_UNLESS_MOUNTED(disk);
  make_hot(path("disk") / "a.db");
  ASSERT_EQ(::mount("none", path("disk").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  expect_read_from_copy(path("disk") / "a.db", 0, "read-only");
}

/// Makes restoring need space: the pages that the transaction changed become holes, and those that it added are gone,
/// which SQLite would remove first. File systems that never overwrite a block in place need space in any case.
void punch_changed_pages(const fs::path& file, const std::string& committed) {
  constexpr std::size_t kPage = 8192;
  const std::string now = content_of(file);
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  for (std::size_t at = kPage; at + kPage <= committed.size(); at += kPage) {
    if (now.compare(at, kPage, committed, at, kPage) == 0) continue;
    EXPECT_EQ(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at), kPage), 0);
  }
  ::close(fd);
  fs::resize_file(file, committed.size());
}

TEST_F(Rollback, FullDiskIsReadFromACopyUntilThereIsSpace) {
  const SmallDisk disk(path("disk"), "20m");
  SKIP_UNLESS_MOUNTED(disk);
  const fs::path file = path("disk") / "a.db";
  const std::string committed = make_hot(file);
  punch_changed_pages(file, committed);
  disk.fill();
  expect_read_from_copy(file, 0, "disk is full");
  EXPECT_THAT(error_of([&] { ResultsDatabase(file, Mode::kReadWrite); }), HasSubstr("disk is full"));
  fs::remove(path("disk") / "fill");
  EXPECT_EQ(ask(ResultsDatabase(file, Mode::kReadOnly), kParameters), "4");
  EXPECT_TRUE(content_of(file) == committed);
}

TEST_F(Rollback, WithoutSpaceForACopyTheErrorNamesTheCause) {
  const SmallDisk disk(path("disk"), "20m");
  SKIP_UNLESS_MOUNTED(disk);
  const fs::path file = path("disk") / "a.db";
  punch_changed_pages(file, make_hot(file));
  disk.fill();
  const auto read_without_space = [&](uid_t user) {
    return in_child([&] {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 3;
      for (const fs::path& folder : {fs::path("/dev/shm"), path("tmp")})
        if (::mount("none", folder.c_str(), "tmpfs", 0, "size=64k,mode=1777") != 0) return 4;
      if (user != 0 && ::seteuid(user) != 0) return 5;
      EXPECT_THAT(error_of([&] { ResultsDatabase(file, Mode::kReadOnly); }),
                  AllOf(HasSubstr(user == 0 ? "(the disk is full)" : "(the file is not writable)"),
                        HasSubstr("only 64.0 KiB are free"), HasSubstr("/dev/shm"), HasSubstr("TMPDIR")));
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
  };
  EXPECT_EQ(read_without_space(0), 0);
  EXPECT_EQ(read_without_space(kNobody), 0);
}

TEST_F(Rollback, FileOnANetworkFileSystemIsReadFromACopy) {
  make_hot(path("a.db"));
  const std::string journal = content_of(path("a.db-journal"));
  const Connection reader(path("a.db"), Connection::Access::kReadOnly);
  const auto copy = roll_back_leftovers(reader, false);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->integer(kParameters), 4);
  EXPECT_TRUE(content_of(path("a.db-journal")) == journal);
}

TEST_F(Rollback, JournalOfALiveWriterStays) {
  make_database(path("a.db"));
  const Connection writer(path("a.db"), Connection::Access::kReadWrite);
  Transaction transaction(writer);
  writer.exec("DELETE FROM param");
  ASSERT_TRUE(fs::exists(path("a.db-journal")));
  const int status = in_child([&] {
    const Connection reader(path("a.db"), Connection::Access::kReadOnly);
    EXPECT_EQ(roll_back_leftovers(reader, true), nullptr);
    EXPECT_FALSE(reader.lock_raw()) << "a copy would contain a part of the transaction";
    EXPECT_EQ(reader.integer(kParameters), 4);
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(path("a.db-journal")));
  transaction.commit();
  EXPECT_EQ(writer.integer(kParameters), 0);
}

/// Appends the name of a super-journal: the transaction also changed other files and is complete without it.
void append_super_journal(const fs::path& journal, const std::string& name) {
  const auto big_endian = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  };
  std::uint32_t checksum = 0;
  for (const char c : name) checksum += static_cast<std::uint32_t>(c);
  constexpr std::uint32_t kPageOfLocks = (1U << 30) / 8192 + 1;
  put_content(journal, content_of(journal) + big_endian(kPageOfLocks) + name +
                           big_endian(static_cast<std::uint32_t>(name.size())) + big_endian(checksum) +
                           "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");
}

TEST_F(Rollback, TransactionOfSeveralFilesIsRolledBackOnlyWithItsSuperJournal) {
  const SmallDisk disk(path("disk"), "20m");
  SKIP_UNLESS_MOUNTED(disk);
  const fs::path file = path("disk") / "a.db";
  const fs::path super = path("disk") / "a.db-mj123456789";
  const std::string committed = make_hot(file);
  append_super_journal(file.string() + "-journal", super.string());
  put_content(super, file.string() + "-journal" + std::string(1, '\0'));
  ASSERT_EQ(::mount("none", path("disk").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  expect_read_from_copy(file, 0, "read-only");
  EXPECT_TRUE(fs::exists(super));
  // Without the super-journal, the transaction was committed, and what is in the file counts.
  ASSERT_EQ(::mount("none", path("disk").c_str(), nullptr, MS_REMOUNT, nullptr), 0);
  fs::remove(super);
  const std::string changed = content_of(file);
  ASSERT_EQ(::mount("none", path("disk").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const Connection reader(file, Connection::Access::kReadOnly);
  const auto copy = roll_back_leftovers(reader, true);
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->raw_bytes(0, static_cast<int>(changed.size())) == changed);
}

}  // namespace
}  // namespace kymo::store::testing

// SPDX-License-Identifier: Apache-2.0
#include "store/writer_lock.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/clock.hpp"
#include "base/process.hpp"
#include "unit/hang.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Mode = ResultsDatabase::Mode;
namespace fs = std::filesystem;

class WriterLockTest : public StoreTest {
 protected:
  fs::path lock_file() const { return path("a.db.lock"); }
  /// A child that holds the lock until it is killed.
  pid_t start_writer() const {
    const pid_t writer = ::fork();
    if (writer == 0) {
      const WriterLock lock(path("a.db"));
      for (;;) ::pause();
    }
    while (content_of(lock_file()).find('\n') == std::string::npos) ::usleep(1000);
    return writer;
  }
  void expect_locked_by(const std::string& owner) const {
    const std::string before = content_of(lock_file());
    EXPECT_THAT(error_of([&] { WriterLock(path("a.db"), milliseconds(50)); }),
                AllOf(HasSubstr(owner), HasSubstr("network file system"), HasSubstr(lock_file().string())));
    EXPECT_EQ(content_of(lock_file()), before);
  }
};

TEST(NetworkFileSystem, IsRecognizedByItsType) {
  EXPECT_STREQ(network_file_system(0x6969), "NFS");
  EXPECT_STREQ(network_file_system(0xff534d42), "SMB");
  EXPECT_STREQ(network_file_system(static_cast<std::int32_t>(0xfe534d42)), "SMB");  // some systems sign-extend it
  EXPECT_STREQ(network_file_system(0x0bd00bd0), "Lustre");
  EXPECT_STREQ(network_file_system(0x47504653), "GPFS");
  EXPECT_STREQ(network_file_system(0x5346414f), "AFS");
  EXPECT_STREQ(network_file_system(0x00c36400), "Ceph");
  EXPECT_STREQ(network_file_system(0x01021997), "9P");
  EXPECT_STREQ(network_file_system(0x65735546), "FUSE");
  // ext4, tmpfs, XFS, Btrfs, ZFS, F2FS, overlayfs, ramfs
  for (const std::int64_t local :
       {0xef53L, 0x01021994L, 0x58465342L, 0x9123683eL, 0x2fc12fc1L, 0xf2f52010L, 0x794c7630L, 0x858458f6L})
    EXPECT_EQ(network_file_system(local), nullptr) << local;
}

TEST_F(WriterLockTest, DatabasesOnLocalDisksNeedNone) {
  const SmallDisk disk(path("disk"), "8m");
  SKIP_UNLESS_MOUNTED(disk);
  EXPECT_EQ(network_file_system(path("disk") / "a.db"), nullptr);
  EXPECT_EQ(network_file_system(path("no") / "folder" / "a.db"), nullptr);
  make_database(path("disk") / "a.db");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("disk")), fs::directory_iterator()), 1);
}

TEST_F(WriterLockTest, ExcludesOtherProcessesUntilItEnds) {
  const pid_t writer = start_writer();
  expect_locked_by("process " + std::to_string(writer));
  std::thread killer([&] {
    ::usleep(100'000);
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
  });
  {
    const WriterLock lock(path("a.db"), kymo::kHang);  // replaces that of the killed process
    expect_locked_by("process " + std::to_string(::getpid()));
  }
  killer.join();
  EXPECT_FALSE(fs::exists(lock_file()));
}

TEST_F(WriterLockTest, LockOfAnEarlierProcessWithTheSamePidIsReplaced) {
  std::string owner;
  {
    const WriterLock lock(path("a.db"));
    owner = content_of(lock_file());
  }
  const auto fields = [&] {
    std::istringstream stream(owner);
    return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
  }();
  ASSERT_EQ(fields.size(), 4U);
  put_content(lock_file(), fields[0] + " " + fields[1] + " 1 " + fields[3] + "\n");
  const WriterLock lock(path("a.db"), milliseconds(0));
  EXPECT_EQ(content_of(lock_file()), owner);
}

TEST_F(WriterLockTest, LockOfAnotherMachineOrContainerStays) {
  put_content(lock_file(), "node7 99999999 5 another-boot/pid:[1]\n");
  expect_locked_by("process 99999999 on host 'node7'");
  put_content(lock_file(), "node7 99999999 5 " + boot_id() + "/pid:[1]\n");
  expect_locked_by("process 99999999");
  put_content(lock_file(), "");  // its owner was killed before it wrote its name, or is about to write it
  expect_locked_by("another process");
}

TEST_F(WriterLockTest, RemovesOnlyItsOwn) {
  const std::string other = "node7 1 5 another-boot/pid:[1]\n";
  {
    const WriterLock lock(path("a.db"));
    put_content(lock_file(), other);
  }
  EXPECT_EQ(content_of(lock_file()), other);
}

TEST_F(WriterLockTest, FullDiskIsAnErrorWithoutALeftover) {
  const SmallDisk disk(path("disk"), "64k");
  SKIP_UNLESS_MOUNTED(disk);
  disk.fill();
  EXPECT_THAT(error_of([&] { WriterLock(path("disk") / "a.db"); }),
              AllOf(HasSubstr("a.db.lock"), HasSubstr("No space left")));
  EXPECT_FALSE(fs::exists(path("disk") / "a.db.lock"));
}

/// The same folder through FUSE.
class FuseMount {
 public:
  FuseMount(const fs::path& folder, const fs::path& mounted) : mounted_(mounted) {
    fs::create_directories(mounted);
    is_mounted_ = find_program("bindfs") && is_ok({"bindfs", folder.string(), mounted.string()});
  }
  ~FuseMount() {
    if (!is_mounted_) return;
    EXPECT_TRUE(is_ok({"fusermount", "-u", mounted_.string()}));
  }
  FuseMount(const FuseMount&) = delete;
  FuseMount& operator=(const FuseMount&) = delete;
  bool is_mounted() const { return is_mounted_; }

 private:
  static bool is_ok(const std::vector<std::string>& command) {
    SpawnOptions options;
    options.command = command;
    return run_command(options, kymo::kHang_s).end.exit_code == 0;
  }

  fs::path mounted_;
  bool is_mounted_;
};

TEST_F(WriterLockTest, DatabaseOnAMountedFileSystemHasOneWriter) {
  fs::create_directories(path("real"));
  const FuseMount mount(path("real"), path("fuse"));
  if (!mount.is_mounted()) GTEST_SKIP() << "needs bindfs and the permission to mount with FUSE";
  const fs::path file = path("fuse") / "a.db";
  make_database(file);
  EXPECT_FALSE(fs::exists(file.string() + ".lock"));
  {
    const ResultsDatabase writer(file, Mode::kReadWrite);
    EXPECT_THAT(error_of([&] { ResultsDatabase(file, Mode::kReadWrite); }), HasSubstr("a.db.lock"));
    EXPECT_EQ(ask(ResultsDatabase(file, Mode::kReadOnly), "SELECT count(*) FROM run"), "1");
  }
  leave_hot_journal(file);
  EXPECT_EQ(ask(ResultsDatabase(file, Mode::kReadOnly), "SELECT count(*) FROM param"), "4");
  EXPECT_TRUE(fs::exists(file.string() + "-journal")) << "a reader must not roll back";
  EXPECT_EQ(ask(ResultsDatabase(file, Mode::kReadWrite), "SELECT count(*) FROM param"), "4");
  EXPECT_FALSE(fs::exists(file.string() + "-journal"));
}

}  // namespace
}  // namespace kymo::store::testing

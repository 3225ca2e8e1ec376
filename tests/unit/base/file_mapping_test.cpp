// SPDX-License-Identifier: Apache-2.0
#include "base/file_mapping.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace kymo {
namespace {

class FileMappingTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 2 << 16;

  FileMappingTest() : fd_(mkstemp(name_)) {}
  ~FileMappingTest() override {
    close(fd_);
    unlink(name_);
  }
  /// The signal that ends a child that executes `what`, or its exit code.
  template <class What>
  static int in_child(What what) {
    const pid_t pid = fork();
    if (pid == 0) {
      what();
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  char name_[32] = "/tmp/kymo-mapping-XXXXXX";
  int fd_;
};

TEST_F(FileMappingTest, IsSharedWithTheFile) {
  FileMapping mapping(fd_, 0, kBytes);
  ASSERT_TRUE(mapping);
  mapping.data()[kBytes - 1] = std::byte{7};
  char read = 0;
  EXPECT_EQ(pread(fd_, &read, 1, kBytes - 1), 1);
  EXPECT_EQ(read, 7);
  const FileMapping moved = std::move(mapping);
  EXPECT_FALSE(mapping);  // NOLINT(bugprone-use-after-move): empty, as it says
  EXPECT_EQ(moved.data()[kBytes - 1], std::byte{7});
  EXPECT_FALSE(moved.is_lost());
}

TEST_F(FileMappingTest, IsEmptyIfTheFileCannotGrow) {
  const int read_only = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(FileMapping(read_only, 0, kBytes));
  EXPECT_EQ(errno, EBADF);
  close(read_only);
}

TEST_F(FileMappingTest, OutlivesTheTruncationOfTheFile) {
  FileMapping mapping(fd_, 0, kBytes), other(fd_, kBytes, kBytes);
  ASSERT_EQ(ftruncate(fd_, kBytes), 0);
  mapping.data()[0] = std::byte{1};
  EXPECT_FALSE(mapping.is_lost());
  other.data()[5] = std::byte{2};
  EXPECT_TRUE(other.is_lost());
  EXPECT_EQ(other.data()[5], std::byte{2});
  EXPECT_EQ(lseek(fd_, 0, SEEK_END), static_cast<off_t>(kBytes));
}

TEST_F(FileMappingTest, IsGuardedAgainAfterAnotherHandler) {
  FileMapping mapping(fd_, 0, kBytes);
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  EXPECT_EQ(in_child([&] {
              std::signal(SIGBUS, [](int) { _exit(9); });
              mapping.data()[0] = std::byte{1};
            }),
            9);
  EXPECT_EQ(in_child([&] {
              std::signal(SIGBUS, [](int) { _exit(9); });
              FileMapping::guard();
              mapping.data()[0] = std::byte{1};
              raise(SIGBUS);
            }),
            9)
      << "a signal that is no fault of a mapping is the other handler's";
}

TEST_F(FileMappingTest, AHandlerThatCallsTheOneBeforeEndsTheProcess) {
  static struct sigaction before;
  EXPECT_EQ(in_child([&] {
              const FileMapping mapping(fd_, 0, kBytes);
              struct sigaction later{};
              later.sa_handler = [](int number) {
                sigaction(number, &before, nullptr);
                raise(number);
              };
              later.sa_flags = SA_NODEFER;
              sigaction(SIGBUS, &later, &before);
              FileMapping::guard();
              raise(SIGBUS);
            }),
            SIGBUS);
}

TEST_F(FileMappingTest, OtherFaultsEndTheProcess) {
  const FileMapping mapping(fd_, 0, kBytes);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  const auto with_default_action = [](const auto& fault) {
    return in_child([&] {
      std::signal(SIGBUS, SIG_DFL);  // a sanitizer handles it
      FileMapping::guard();
      fault();
    });
  };
  EXPECT_EQ(with_default_action([&] { *static_cast<volatile char*>(memory) = 1; }), SIGBUS);
  EXPECT_EQ(with_default_action([] { raise(SIGBUS); }), SIGBUS);
  munmap(memory, kBytes);
}

}  // namespace
}  // namespace kymo

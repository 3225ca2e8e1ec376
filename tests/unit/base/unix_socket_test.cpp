// SPDX-License-Identifier: Apache-2.0
#include "base/unix_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class UnixSocket : public testing::Test {
 protected:
  ~UnixSocket() override { fs::remove_all(folder_); }
  fs::path folder_ = make_private_folder("kymo-socket-test");
};

void expect_connection(const fs::path& file) {
  const int listener = listen_at(file);
  const int client = connect_to(file);
  const int server = accept(listener, nullptr, nullptr);
  ASSERT_GE(server, 0);
  EXPECT_EQ(send(client, "x", 1, MSG_NOSIGNAL), 1);
  char byte = 0;
  EXPECT_EQ(recv(server, &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_TRUE(peer_is_trusted(server));
  for (const int each : {listener, client, server}) close(each);
}

TEST_F(UnixSocket, Connects) { expect_connection(folder_ / "control"); }

TEST_F(UnixSocket, APathMayBeLongerThanAnAddress) {
  const fs::path deep = folder_ / std::string(100, 'a') / std::string(100, 'b');
  fs::create_directories(deep);
  expect_connection(deep / "control");
}

TEST_F(UnixSocket, SaysWhatFailed) {
  const auto failure = [](const auto& function) -> std::string {
    try {
      function();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(failure([&] { connect_to(folder_ / "none"); }), HasSubstr("none': No such file or directory"));
  EXPECT_THAT(failure([&] { listen_at(folder_ / "no" / "folder"); }), HasSubstr("cannot listen on '"));
  EXPECT_THAT(failure([&] { listen_at(folder_ / std::string(120, 'x')); }), HasSubstr("File name too long"));
  EXPECT_THAT(failure([&] { listen_at(folder_ / "none" / std::string(90, 'x')); }), HasSubstr("No such file"));
}

TEST_F(UnixSocket, OnlyItsUserMayConnect) {
  const int listener = listen_at(folder_ / "control");
  struct stat facts{};
  ASSERT_EQ(stat((folder_ / "control").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  close(listener);
}

TEST_F(UnixSocket, AnotherUserIsNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a process of another user";
  const int listener = listen_at(folder_ / "control");
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(folder_ / "control", fs::perms::all);
  const pid_t other = fork();
  if (other == 0) {
    if (setuid(65534) != 0) _exit(1);
    try {
      connect_to(folder_ / "control");
      _exit(0);
    } catch (const Error&) {
      _exit(2);
    }
  }
  const int server = accept(listener, nullptr, nullptr);
  EXPECT_FALSE(peer_is_trusted(server));
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  close(server);
  close(listener);
}

}  // namespace
}  // namespace kymo

// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() : folder_(make_private_folder("kymo-test")) {}
  ~FileTest() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FileTest, WhatIsWrittenIsReadBack) {
  const std::string content("a\0b\n", 4);
  write_file(folder_ / "f", content);
  EXPECT_EQ(read_file(folder_ / "f"), content);
  write_file(folder_ / "f", "");
  EXPECT_EQ(read_file(folder_ / "f"), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "the sibling is gone";
}

TEST_F(FileTest, ErrorsNameTheFile) {
  try {
    read_file(folder_ / "absent");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("absent"), std::string::npos) << e.what();
  }
  EXPECT_THROW(write_file(folder_ / "no" / "where", "x"), Error);
  EXPECT_THROW(read_file(folder_), Error);
}

TEST_F(FileTest, Sha256AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  write_file(folder_ / "f", std::string(3'000'000, 'a'));
  EXPECT_EQ(sha256_of_file(folder_ / "f"), sha256(std::string(3'000'000, 'a')));
}

TEST_F(FileTest, OnlyAbandonedSiblingsAreRemoved) {
  const fs::path target = folder_ / "result";
  const auto make_old = [](const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  };
  const TemporarySibling killed = make_sibling(target), killed_folder = make_sibling_folder(target);
  write_file(killed_folder.path / "page", "");
  const TemporarySibling used = make_sibling(target), used_folder = make_sibling_folder(target);
  const TemporarySibling young = make_sibling(target);
  for (const int fd : {killed.fd, killed_folder.fd, young.fd}) close(fd);
  const TemporarySibling other = make_sibling(folder_ / "result2");
  close(other.fd);
  const fs::path own = folder_ / ".result.backup";  // of the user
  fs::create_directory(own);
  for (const fs::path& path : {killed.path, killed_folder.path, used.path, used_folder.path, other.path, own})
    make_old(path);
  remove_abandoned_siblings(target);
  for (const fs::path& path : {killed.path, killed_folder.path}) EXPECT_FALSE(fs::exists(path)) << path;
  for (const fs::path& path : {used.path, used_folder.path, young.path, other.path, own})
    EXPECT_TRUE(fs::exists(path)) << path;
  for (const int fd : {used.fd, used_folder.fd}) close(fd);
}

TEST_F(FileTest, TemporaryFilesCannotBePreparedByOthers) {
  const TemporarySibling first = make_sibling(folder_ / "result");
  const TemporarySibling second = make_sibling(folder_ / "result");
  ASSERT_GE(first.fd, 0);
  ASSERT_GE(second.fd, 0);
  EXPECT_NE(first.path, second.path);
  EXPECT_EQ(first.path.parent_path(), folder_);
  struct stat facts{};
  const mode_t mask = umask(027);
  const TemporarySibling masked = make_sibling(folder_ / "result");
  umask(mask);
  ASSERT_EQ(fstat(masked.fd, &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0640u);
  for (const TemporarySibling& each : {first, second, masked}) close(each.fd);
  errno = 0;
  EXPECT_EQ(make_sibling(folder_ / "no" / "such" / "folder").fd, -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(FileTest, SaysWhoCouldAlterAFile) {
  const std::filesystem::path parent = folder_ / "outer" / "inner";
  const std::filesystem::path file = parent / "f";
  std::filesystem::create_directories(parent);
  write_file(file, "x");
  EXPECT_EQ(why_alterable(file), "");
  const auto with_mode = [&](const std::filesystem::path& at, mode_t mode) {
    struct stat before{};
    EXPECT_EQ(stat(at.c_str(), &before), 0);
    EXPECT_EQ(chmod(at.c_str(), mode), 0);
    const std::string reason = why_alterable(file);
    EXPECT_EQ(chmod(at.c_str(), before.st_mode & 07777), 0);
    return reason;
  };
  EXPECT_EQ(with_mode(file, 0646), quote(file.string()) + " is world-writable");
  EXPECT_EQ(with_mode(parent, 01777), quote(parent.string()) + " is world-writable") << "others can add files";
  EXPECT_EQ(with_mode(folder_ / "outer", 0777), quote((folder_ / "outer").string()) + " is world-writable");
  EXPECT_EQ(with_mode(folder_ / "outer", 01777), "") << "nobody can replace the inner folder";
}

TEST_F(FileTest, OtherOwnersAndGroupsCouldAlterAFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::filesystem::path file = folder_ / "f";
  write_file(file, "x");
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chown(folder_.c_str(), kNobody, 0), 0);
  EXPECT_EQ(why_alterable(file), quote(folder_.string()) + " belongs to another user (uid 65534)");
  ASSERT_EQ(chown(folder_.c_str(), 0, 0), 0);
  ASSERT_EQ(chown(file.c_str(), 0, kNobody), 0);
  EXPECT_EQ(why_alterable(file), "") << "the group may only read";
  ASSERT_EQ(chmod(file.c_str(), 0664), 0);
  EXPECT_EQ(why_alterable(file), quote(file.string()) + " is writable by its group (gid 65534)");
}

TEST(RandomToken, IsLongAndNeverTheSame) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(random_token());
  EXPECT_EQ(tokens.size(), 100u);
  EXPECT_EQ(tokens.begin()->size(), 64u);
}

}  // namespace
}  // namespace kymo

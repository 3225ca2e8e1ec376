// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.hpp"

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

TEST_F(FileTest, SeesWhoMayWrite) {
  write_file(folder_ / "f", "x");
  EXPECT_FALSE(is_world_writable(folder_ / "f"));
  chmod((folder_ / "f").c_str(), 0666);
  EXPECT_TRUE(is_world_writable(folder_ / "f"));
  chmod((folder_ / "f").c_str(), 0644);
  chmod(folder_.c_str(), 01777);
  EXPECT_TRUE(is_world_writable(folder_ / "f"));
}

}  // namespace
}  // namespace kymo

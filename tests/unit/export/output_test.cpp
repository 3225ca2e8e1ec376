// SPDX-License-Identifier: Apache-2.0
#include "export/output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.hpp"
#include "sample_events.hpp"

namespace kymo::exports {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::error_of;
using ::testing::HasSubstr;

class OutputTest : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = make_private_folder("kymo-output-test"); }
  void TearDown() override { fs::remove_all(folder_); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(OutputTest, TakesThePlaceOfAnOlderFileOnlyWhenItIsWhole) {
  const fs::path file = folder_ / "out.json";
  write_file(file, "old");
  {
    Output output(file, Output::Kind::kText);
    output.write(std::string(3 << 20, 'x'));
    EXPECT_EQ(read_file(file), "old");
  }
  EXPECT_EQ(read_file(file), "old");
  EXPECT_EQ(count(), 1u);
  Output output(file, Output::Kind::kText);
  output.write("new");
  output.finish();
  EXPECT_EQ(read_file(file), "new");
  EXPECT_EQ(count(), 1u);
}

TEST_F(OutputTest, NeverTakesThePlaceOfADatabase) {
  const std::string content = "SQLite format 3" + std::string(100, '\0');
  write_file(folder_ / "own.db", content);
  fs::create_symlink("own.db", folder_ / "link");
  for (const char* name : {"own.db", "link"})
    EXPECT_THAT(error_of([&] { Output(folder_ / name, Output::Kind::kBinary); }),
                AllOf(HasSubstr("refusing to replace"), HasSubstr("is a database")));
  EXPECT_EQ(read_file(folder_ / "own.db"), content);
  EXPECT_EQ(count(), 2u);
}

TEST_F(OutputTest, FollowsALinkAndWritesToAPipeInPlace) {
  write_file(folder_ / "target", "old");
  fs::create_symlink("target", folder_ / "link");
  Output through(folder_ / "link", Output::Kind::kText);
  through.write("new");
  through.finish();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "target"), "new");

  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  Output output(pipe, Output::Kind::kBinary);
  output.write("bytes");
  output.finish();
  char held[8] = {};
  EXPECT_EQ(read(reader, held, sizeof held), 5);
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(OutputTest, NamesTheFileThatCannotBeWritten) {
  EXPECT_THAT(error_of([&] { Output(folder_, Output::Kind::kText); }), HasSubstr("it is a directory"));
  EXPECT_THAT(error_of([&] { Output(folder_ / "none" / "x", Output::Kind::kText); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([] {
                Output full("/dev/full", Output::Kind::kText);
                full.write("x");
                full.finish();
              }),
              HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace kymo::exports

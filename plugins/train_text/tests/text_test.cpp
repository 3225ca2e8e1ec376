// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <gmock/gmock.h>

#include "sources.hpp"

namespace kymo::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Text, ConcatenatesTheSortedSourcesWithoutTestsAndPackages) {
  const Sources sources;
  for (const char* name : {"b.py", "a/z.py", "a.py", "a/_.py", "testing.py"}) sources.write(name, name);
  for (const char* name : {"test/t.py", "a/tests/t.py", "idlelib/idle_test/t.py", "site-packages/p.py",
                           "dist-packages/p.py", "notes.txt", "a.pyc"})
    sources.write(name, "?");
  std::filesystem::create_symlink(sources.folder / "b.py", sources.folder / "link.py");
  std::vector<std::string> names;
  for (const auto& file : sources_in(sources.folder)) names.push_back(file.substr(sources.folder.string().size() + 1));
  EXPECT_THAT(names, ElementsAre("a.py", "a/_.py", "a/z.py", "b.py", "testing.py"));

  const Text text = read_text(sources.folder, 1000);
  EXPECT_EQ(text.bytes, "a.pya/_.pya/z.pyb.pytesting.py");
  EXPECT_EQ(text.files, 5);
}

TEST(Text, EndsAtTheLimitAndHashesWhatWasRead) {
  const Sources sources;
  sources.write("a.py", "abc");
  sources.write("b.py", std::string("\0\xff\n", 3));
  const Text cut = read_text(sources.folder, 5);
  EXPECT_EQ(cut.bytes, std::string("abc\0\xff", 5));
  EXPECT_EQ(cut.files, 2);
  const Text first = read_text(sources.folder, 3);
  EXPECT_EQ(first.files, 1);
  EXPECT_EQ(first.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") << "FIPS 180-2, \"abc\"";
}

TEST(Text, SaysThatThereIsNone) {
  const Sources sources;
  sources.write("readme.txt", "?");
  EXPECT_THAT([&] { read_text(sources.folder, 10); },
              ThrowsMessage<std::runtime_error>(HasSubstr("no Python sources (*.py) in " + sources.folder.string())));
  EXPECT_THAT([&] { read_text(sources.folder / "none", 10); },
              ThrowsMessage<std::runtime_error>(HasSubstr("none is not a folder")));
}

TEST(Text, FindsTheStandardLibraryOfTheInterpreterOnThePath) {
  EXPECT_TRUE(std::filesystem::exists(standard_library() + "/os.py"));
  const std::string before = getenv("PATH");
  const Sources empty;
  setenv("PATH", empty.folder.c_str(), 1);
  EXPECT_THAT([] { standard_library(); }, ThrowsMessage<std::runtime_error>(HasSubstr("set text=FOLDER")));
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace kymo::text

// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "catalog/catalog.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// This program is in tests/, not bin/, but both have the same parent directory, so it finds the build tree's template.
class NewPlugin : public InFolder {};

TEST_F(NewPlugin, CopiesTheTemplateUnderANewName) {
  const fs::path made = new_plugin("flash_attention_2", folder_ / "mine");
  EXPECT_EQ(made, folder_ / "mine" / "flash_attention_2");
  const std::string source = read_file(made / "flash_attention_2.cpp");
  EXPECT_THAT(source, AllOf(HasSubstr("class FlashAttention2 final"), HasSubstr("Descriptor{\"flash_attention_2\""),
                            HasSubstr("KYMO_EXPORT_WORKLOADS(FlashAttention2)"), Not(HasSubstr("axpy"))));
  const std::string build = read_file(made / "CMakeLists.txt");
  EXPECT_THAT(build,
              AllOf(HasSubstr("kymo_add_plugin(flash_attention_2 flash_attention_2.cpp)"),
                    HasSubstr(installation().root.string()), Not(HasSubstr("@KYMO_FOLDER@")), Not(HasSubstr("axpy"))));
}

TEST_F(NewPlugin, RejectsNamesThatCannotBeOne) {
  for (const char* name :
       {"", "Flash", "2fast", "a-b", "a b", "../up", "a/b", "a;b", "a\nb", "test", "all", "libx", "$(id)"}) {
    EXPECT_THROW(new_plugin(name, folder_), UsageError) << name;
    EXPECT_THAT(message_of([&] { new_plugin(name, folder_); }), HasSubstr("invalid plugin name"));
  }
  EXPECT_THROW(new_plugin(std::string(65, 'a'), folder_), UsageError);
  EXPECT_TRUE(fs::is_empty(folder_)) << "nothing is left behind";
}

TEST_F(NewPlugin, LeavesAnExistingFolderAlone) {
  fs::create_directory(folder_ / "mine");
  EXPECT_THAT(message_of([&] { new_plugin("mine", folder_); }), HasSubstr("already exists"));
  EXPECT_TRUE(fs::is_empty(folder_ / "mine"));
  fs::create_symlink("nowhere", folder_ / "link");
  EXPECT_THROW(new_plugin("link", folder_), UsageError);
}

TEST_F(NewPlugin, SaysThatItCannotMakeTheFolder) {
  write_file(folder_ / "file", "");
  EXPECT_THAT(message_of([&] { new_plugin("mine", folder_ / "file"); }), HasSubstr("cannot create the folder"));
}

}  // namespace
}  // namespace kymo::catalog::test

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>

#include "base/error.hpp"
#include "base/file.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Discover : public InFolder {
 protected:
  const Plugin* in(const Catalog& catalog, const std::string& name) {
    const auto at =
        std::find_if(catalog.plugins.begin(), catalog.plugins.end(), [&](const Plugin& p) { return p.name == name; });
    return at == catalog.plugins.end() ? nullptr : &*at;
  }
};

TEST_F(Discover, LooksInFoldersAndFilesOfThePath) {
  copy("probe", "folder/probe");
  copy("throws", "folder/libshared");
  write_file(folder_ / "folder" / "notes.txt", "not a plugin");
  const fs::path file = copy("raw_valid");
  const ScopedEnvironment path("KYMO_PLUGIN_PATH",
                               (folder_ / "folder").string() + "::" + file.string() + ":/no/such/place");
  const Catalog catalog = discover(options_);
  EXPECT_NE(in(catalog, "probe"), nullptr);
  EXPECT_NE(in(catalog, "raw_valid"), nullptr);
  EXPECT_EQ(in(catalog, "throws"), nullptr) << "lib*.so are libraries that plugins share";
  ASSERT_EQ(catalog.rejected.size(), 1u);
  EXPECT_EQ(catalog.rejected[0].file, "/no/such/place");
  EXPECT_THAT(catalog.rejected[0].reason, HasSubstr("no such file"));
}

TEST_F(Discover, ANameOfSeveralPluginsIsAnErrorThatShowsTheirFiles) {
  const fs::path first = copy("probe", "a/probe");
  const fs::path second = copy("probe", "b/probe");
  const ScopedEnvironment path("KYMO_PLUGIN_PATH", second.string());
  options_.extra_files = {first};
  const Catalog catalog = discover(options_);
  EXPECT_EQ(
      std::count_if(catalog.plugins.begin(), catalog.plugins.end(), [](const Plugin& p) { return p.name == "probe"; }),
      2);
  EXPECT_THAT(message_of([&] { find_workload(catalog, "probe"); }),
              AllOf(HasSubstr("'probe' is in several plugins"), HasSubstr(fs::canonical(first).string() + ":probe"),
                    HasSubstr(fs::canonical(second).string() + ":probe")));
  EXPECT_THROW(find_workload(catalog, "probe"), UsageError);
}

TEST_F(Discover, FindsWorkloadsOfOtherPlugins) {
  options_.extra_files = {copy("probe")};
  const Catalog catalog = discover(options_);
  const std::deque<Plugin> same{catalog.plugins.front()};
  EXPECT_EQ(find_workload(catalog, "probe", same).workload->name, "probe") << "the same file is not ambiguous";
  EXPECT_EQ(find_workload({}, "probe", same).plugin, &same.front());
}

TEST_F(Discover, SuggestsFilesAndFoldersOfTheName) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  fs::create_directories("with_source");
  write_file("with_source/with_source.cpp", "");
  fs::create_directories("built/build");
  write_file("built/build/built.so", "");
  fs::create_directories("bare");
  const auto message = [](const char* name) { return message_of([&] { find_workload({}, name); }); };
  EXPECT_THAT(message("with_source"), HasSubstr("run: kymo build with_source/with_source.cpp"));
  EXPECT_THAT(message("built"), HasSubstr("pass ./built/build/built.so"));
  EXPECT_THAT(message("bare"), HasSubstr("the folder ./bare contains no plugin bare.so"));
  fs::current_path(before);
}

TEST_F(Discover, ListsInstalledPluginsLast) {
  copy("probe", "installed/probe");
  const fs::path first = copy("raw_valid");
  options_.extra_files = {first};
  const Catalog catalog = discover(options_);
  ASSERT_EQ(catalog.plugins.size(), 2u);
  EXPECT_EQ(catalog.plugins[0].name, "raw_valid");
  EXPECT_EQ(catalog.plugins[1].name, "probe");
}

TEST_F(Discover, DescribesAFileOnceThoughNamedTwice) {
  const fs::path file = copy("probe");
  fs::create_symlink(file, folder_ / "again.so");
  options_.extra_files = {file, folder_ / "again.so", file};
  EXPECT_EQ(discover(options_).rejected.size(), 0u);
}

TEST_F(Discover, KeepsGoingPastBadFiles) {
  options_.extra_files = {copy("wrong_major"), copy("describe_crashes"), copy("probe"), folder_ / "absent.so"};
  const Catalog catalog = discover(options_);
  EXPECT_NE(in(catalog, "probe"), nullptr);
  ASSERT_EQ(catalog.rejected.size(), 3u);
  EXPECT_THAT(catalog.rejected[0].reason, HasSubstr("ABI 3.1"));
  EXPECT_THAT(catalog.rejected[0].reason, Not(HasSubstr("wrong_major.so"))) << "the file is a field of its own";
}

TEST_F(Discover, FindsWorkloadsOrSaysWhatIsNear) {
  options_.extra_files = {copy("probe"), copy("wrong_major")};
  const Catalog catalog = discover(options_);
  const Found found = find_workload(catalog, "probe");
  EXPECT_EQ(found.plugin->name, "probe");
  EXPECT_EQ(found.workload->name, "probe");
  EXPECT_THAT(message_of([&] { find_workload(catalog, "prode"); }),
              AllOf(HasSubstr("'prode'"), HasSubstr("did you mean 'probe'")));
  EXPECT_THAT(message_of([&] { find_workload(catalog, "wrong_major"); }),
              AllOf(HasSubstr("wrong_major.so"), HasSubstr("ABI 3.1")));
  EXPECT_THAT(
      message_of([&] { find_workload(catalog, "entirely_different"); }),
      AllOf(HasSubstr("1 plugin file(s) cannot be used, for example"), HasSubstr("wrong_major.so' is rejected: ")));
  EXPECT_THROW(find_workload(catalog, "x"), UsageError);
  EXPECT_THAT(message_of([] { find_workload({}, "x"); }), HasSubstr("no plugins found"));
  EXPECT_THAT(message_of([&] { find_workload(catalog, "a\nb"); }), HasSubstr("a\\nb"));
}

}  // namespace
}  // namespace kymo::catalog::test

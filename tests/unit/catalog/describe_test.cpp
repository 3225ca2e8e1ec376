// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class Describe : public InFolder {
 protected:
  std::string refusal(const std::string& name) {
    return message_of([&] { describe_file(copy(name), options_); });
  }
};

TEST_F(Describe, ReadsEverythingThatAPluginSays) {
  const fs::path file = copy("probe");
  const Plugin found = describe_file(file, options_);
  EXPECT_EQ(found.name, "probe");
  EXPECT_EQ(found.file.file, fs::canonical(file));
  EXPECT_EQ(found.file.sha256, sha256_of_file(file));
  ASSERT_EQ(found.workloads.size(), 1u);
  const Workload& workload = found.workloads[0];
  EXPECT_EQ(workload.name, "probe");
  EXPECT_THAT(workload.phases, ElementsAre("first", "second"));
  EXPECT_TRUE(workload.runs_on_cpu);
  EXPECT_FALSE(workload.runs_on_cuda);
  EXPECT_EQ(workload.min_ranks, 1);
  EXPECT_EQ(workload.max_ranks, 0);
  ASSERT_GE(workload.parameters.size(), 6u);
  const Parameter& sleep = workload.parameters[0];
  EXPECT_EQ(sleep.name, "sleep");
  EXPECT_EQ(sleep.type, ParameterType::kInt);
  EXPECT_EQ(sleep.unit, "us");
  EXPECT_EQ(std::get<std::int64_t>(sleep.default_value), 100);
  EXPECT_EQ(sleep.minimum, 0.0);
  EXPECT_THAT(sleep.axis, ElementsAre("100", "1000"));
}

TEST_F(Describe, TakesAPluginInPlainC) {
  const Plugin found = describe_file(copy("raw_valid"), options_);
  const Workload& workload = found.workloads.at(0);
  EXPECT_EQ(workload.title, "");
  EXPECT_EQ(workload.family, "sums");
  EXPECT_EQ(workload.family_order, 3);
  const Parameter& n = workload.parameters.at(0);
  EXPECT_EQ(n.name, "n");
  EXPECT_EQ(n.title, "{} numbers");
  EXPECT_TRUE(n.titled_at_default);
  EXPECT_TRUE(n.is_setting);
}

/// A plugin with a library from its directory, which is copied along with it.
class Split : public Describe {
 protected:
  fs::path copy_both() {
    fs::copy_file(plugin("split").parent_path() / "libsplit_rest.so", library_, fs::copy_options::overwrite_existing);
    return copy("split");
  }
  fs::path library_ = folder_ / "libsplit_rest.so";
};

TEST_F(Split, NamesTheLibrariesOfItsFolder) {
  const Plugin found = describe_file(copy_both(), options_);
  EXPECT_THAT(found.file.libraries, ElementsAre(Pair("libsplit_rest.so", sha256_of_file(library_))));
  EXPECT_THAT(describe_file(copy("probe"), options_).file.libraries, IsEmpty()) << "the system's are not the plugin's";
}

TEST_F(Split, IsDescribedAnewWhenALibraryChanges) {
  const fs::path file = copy_both();
  const std::string before = describe_file(file, options_).file.libraries.at("libsplit_rest.so");
  EXPECT_EQ(describe_file(file, options_).file.libraries.at("libsplit_rest.so"), before) << "from the cache";
  write_file(library_, read_file(library_) + "a build later");
  EXPECT_EQ(describe_file(file, options_).file.libraries.at("libsplit_rest.so"), sha256_of_file(library_));
  EXPECT_NE(sha256_of_file(library_), before);
  fs::remove(library_);
  EXPECT_THAT(message_of([&] { describe_file(file, options_); }), HasSubstr("libsplit_rest.so"));
}

TEST_F(Describe, KeepsHostileTextsAsTheyAre) {
  EXPECT_EQ(describe_file(copy("hostile_text"), options_).workloads.at(0).documentation,
            "<script>alert(1)</script> \\input{x} =cmd 'quote'\n\"second line\"");
}

TEST_F(Describe, HearsTheAnswerPastWhatThePluginPrints) {
  EXPECT_EQ(describe_file(copy("describe_prints"), options_).name, "describe_prints");
  EXPECT_EQ(describe_file(copy("describe_floods"), options_).name, "describe_floods");
}

TEST_F(Describe, NamesTheReasonForDamagedTables) {
  EXPECT_THAT(refusal("no_symbol"), HasSubstr("does not export kymo_plugin_v2"));
  EXPECT_THAT(refusal("null_table"), HasSubstr("no table"));
  EXPECT_THAT(refusal("short_struct"), AllOf(HasSubstr("workload 0 declares 16 bytes"), HasSubstr("128 are required")));
  EXPECT_THAT(refusal("minor_differs_in_table"), HasSubstr("different ABI versions"));
  EXPECT_THAT(refusal("framework_differs_in_table"),
              AllOf(HasSubstr("use 'libtorch'"), HasSubstr("TORCH to kymo_add_plugin")));
  EXPECT_THAT(refusal("hostile_name"), AllOf(HasSubstr("DROP TABLE"), HasSubstr("lowercase")));
  EXPECT_THAT(refusal("not_utf8"), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal("default_out_of_bounds"),
              AllOf(HasSubstr("default"), HasSubstr("'n' cannot be '-1'"), HasSubstr("at least 0")));
  EXPECT_THAT(refusal("reserved_phase"), AllOf(HasSubstr("'other'"), HasSubstr("reserved")));
  EXPECT_THAT(refusal("wrong_family"), AllOf(HasSubstr("the family of workload"), HasSubstr("'all sums'")));
  EXPECT_THAT(refusal("no_function"), HasSubstr("is missing the function step (NULL)"));
}

TEST_F(Describe, SurvivesPluginsThatMisbehave) {
  EXPECT_THAT(refusal("describe_crashes"), HasSubstr("signal 11"));
  EXPECT_THAT(refusal("describe_exits"), HasSubstr("exit code 0"));
  EXPECT_THAT(refusal("describe_throws"), AllOf(HasSubstr("no table"), HasSubstr("no description today")));
}

TEST_F(Describe, EndsAPluginThatHangs) {
  options_.library_limits.idle_s = 0.5;
  EXPECT_THAT(refusal("describe_hangs"), HasSubstr("could not be described: describing it hangs: it slept for 0.5 s"));
}

TEST_F(Describe, EndsAPluginThatComputesForTooLong) {
  options_.library_limits.processor_s = 0.5;
  EXPECT_THAT(refusal("describe_spins"), HasSubstr("describing it used more than 0.5 s of processor time"));
}

TEST_F(Describe, WaitsForAPluginThatSleeps) {
  options_.library_limits.processor_s = 0.8;
  EXPECT_EQ(describe_file(copy("describe_sleeps"), options_).name, "describe_sleeps") << "it sleeps for a second";
}

TEST_F(Describe, TriesAgainAfterALimit) {
  const fs::path file = copy("describe_sleeps");
  options_.extra_files = {file};
  options_.library_limits.idle_s = 0.1;
  const Catalog failed = discover(options_);
  ASSERT_EQ(failed.rejected.size(), 1u);
  EXPECT_TRUE(failed.rejected[0].may_be_usable);
  EXPECT_THAT(failed.rejected[0].reason, ::testing::StartsWith("describing it hangs"));
  options_.library_limits.idle_s = 60;
  EXPECT_EQ(discover(options_).plugins.size(), 1u);
  options_.library_limits = {0, 0};
  EXPECT_EQ(discover(options_).plugins.size(), 1u) << "from the cache, without a process";
}

TEST_F(Describe, SaysThatItTakesLong) {
  std::vector<std::string> said;
  options_.announce = [&](const std::string& text) { said.push_back(text); };
  options_.announce_after_s = 1e6;
  describe_file(copy("probe"), options_);
  EXPECT_THAT(said, IsEmpty());
  options_.announce_after_s = 0;
  options_.extra_files = {copy("describe_sleeps"), copy("raw_valid"), copy("probe", "again")};
  discover(options_);
  EXPECT_THAT(said, ElementsAre("describing 3 plugins for the first time; later commands use the stored descriptions"));
  said.clear();
  discover(options_);
  EXPECT_THAT(said, IsEmpty()) << "all are cached";
  copy("describe_prints", "raw_valid");
  discover(options_);
  EXPECT_THAT(said, ElementsAre("describing 1 new or changed plugin; later commands use the stored description"));
}

// Cached descriptions are recognized by a documentation string that no plugin has.
class Cached : public Describe {
 protected:
  void mark_cache() {
    std::string text = read_file(cache_entry());
    const std::string documented = "sleeps, and reports through every service";
    const std::size_t at = text.find(documented);
    ASSERT_NE(at, std::string::npos);
    write_file(cache_entry(), text.replace(at, documented.size(), "from the cache"));
  }
  std::string documentation(const fs::path& file) {
    return describe_file(file, options_).workloads.at(0).documentation;
  }
};

TEST_F(Cached, IsReadWhileTheFileStaysTheSame) {
  const fs::path file = copy("probe");
  const std::string hash = describe_file(file, options_).file.sha256;
  mark_cache();
  EXPECT_EQ(documentation(file), "from the cache");
  EXPECT_EQ(describe_file(file, options_).file.sha256, hash);
}

TEST_F(Cached, IsPassedOverWhenTheFileChanges) {
  const fs::path file = copy("probe");
  describe_file(file, options_);
  mark_cache();
  const auto time = fs::last_write_time(file);
  copy("raw_valid", "probe");
  fs::last_write_time(file, time);  // as preserved by some copy tools
  EXPECT_EQ(describe_file(file, options_).name, "raw_valid");
}

TEST_F(Cached, IgnoresDamage) {
  const fs::path file = copy("probe");
  describe_file(file, options_);
  const std::string good = read_file(cache_entry());
  for (const std::string& damage :
       {std::string(), std::string("{"), std::string("[]"), std::string("{\"stamp\": 1}"),
        good.substr(0, good.size() / 2), std::string(good).replace(good.find("\"workloads\""), 11, "\"wurkloads\"")}) {
    write_file(cache_entry(), damage);
    EXPECT_EQ(documentation(file), "sleeps, and reports through every service") << damage;
  }
}

TEST_F(Cached, IsNotNeeded) {
  write_file(folder_ / "cache", "a file where the folder should be");
  EXPECT_EQ(describe_file(copy("probe"), options_).name, "probe");
}

TEST_F(Cached, DoesNotOverruleTheChecks) {
  const fs::path file = copy("probe");
  describe_file(file, options_);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(message_of([&] { describe_file(file, options_); }), HasSubstr("world-writable"));
}

}  // namespace
}  // namespace kymo::catalog::test

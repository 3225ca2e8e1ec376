// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "catalog/catalog.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class BuildPluginFile : public InFolder {
 protected:
  BuildPluginFile() : before_(fs::current_path()) { fs::current_path(folder_); }
  ~BuildPluginFile() override { fs::current_path(before_); }
  fs::path before_;
};

TEST_F(BuildPluginFile, MakesAPluginThatCanBeDescribed) {
  fs::create_directory("with space");
  write_file("with space/tiny.cpp",
             "#include <kymo/workload.hpp>\n"
             "struct Tiny final : kymo::Workload {\n"
             "  static kymo::Descriptor describe() { return {\"tiny\", \"does nothing\"}; }\n"
             "  void step(kymo::Context&) override {}\n"
             "};\n"
             "KYMO_EXPORT_WORKLOADS(Tiny)\n");
  const fs::path made = build_plugin_file("with space/tiny.cpp", false);
  EXPECT_EQ(fs::canonical(made), fs::canonical(folder_) / "tiny.so");
  const Plugin found = describe_file(made, options_);
  EXPECT_EQ(found.name, "tiny");
  EXPECT_EQ(found.file.framework, "");
}

TEST_F(BuildPluginFile, ShowsWhatTheCompilerSaid) {
  write_file("broken.cpp", "#include <kymo/workload.hpp>\nthis is no program\n");
  try {
    build_plugin_file("broken.cpp", false);
    FAIL() << "it compiled";
  } catch (const Error& problem) {
    EXPECT_THAT(problem.what(), AllOf(HasSubstr("'broken.cpp'"), HasSubstr("error:"), HasSubstr("broken.cpp:2")));
    EXPECT_EQ(problem.code(), ExitCode::kToolError);
  }
  EXPECT_FALSE(fs::exists("broken.so"));
}

TEST_F(BuildPluginFile, RejectsUndefinedSymbols) {
  write_file("loose.cpp",
             "#include <kymo/workload.hpp>\n"
             "void defined_nowhere();\n"
             "struct Loose final : kymo::Workload {\n"
             "  static kymo::Descriptor describe() { return {\"loose\", \"\"}; }\n"
             "  void step(kymo::Context&) override { defined_nowhere(); }\n"
             "};\n"
             "KYMO_EXPORT_WORKLOADS(Loose)\n");
  EXPECT_THROW(build_plugin_file("loose.cpp", false), Error);
}

TEST_F(BuildPluginFile, RejectsWhatIsNoSource) {
  EXPECT_THAT(message_of([] { build_plugin_file("absent.cpp", false); }), HasSubstr("no such source file"));
  write_file("Bad-Name.cpp", "");
  EXPECT_THAT(message_of([] { build_plugin_file("Bad-Name.cpp", false); }), HasSubstr("'Bad-Name'"));
}

TEST_F(BuildPluginFile, SaysThatThereIsNoCompiler) {
  const ScopedEnvironment compiler("CXX", "/no/such/compiler");
  write_file("tiny.cpp", "");
  EXPECT_THAT(message_of([] { build_plugin_file("tiny.cpp", false); }), HasSubstr("/no/such/compiler"));
}

}  // namespace
}  // namespace kymo::catalog::test

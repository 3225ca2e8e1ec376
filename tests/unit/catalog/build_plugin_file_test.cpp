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

/// Builds the sources and adds the compiler's output to `output`.
fs::path build(const std::vector<fs::path>& sources, std::string* output = nullptr,
               std::vector<std::string> compile_flags = {}, std::vector<std::string> link_flags = {}) {
  BuildRequest request;
  request.sources = sources;
  request.compile_flags = std::move(compile_flags);
  request.link_flags = std::move(link_flags);
  request.on_output = [output](const std::string& text) {
    if (output) *output += text;
  };
  return build_plugin_file(request);
}

TEST_F(BuildPluginFile, MakesAPluginThatCanBeDescribed) {
  fs::create_directory("with space");
  write_file("with space/tiny.cpp",
             "#include <kymo/workload.hpp>\n"
             "struct Tiny final : kymo::Workload {\n"
             "  static kymo::Descriptor describe() { return {\"tiny\", \"does nothing\"}; }\n"
             "  void step(kymo::Context&) override {}\n"
             "};\n"
             "KYMO_EXPORT_WORKLOADS(Tiny)\n");
  const fs::path made = build({"with space/tiny.cpp"});
  EXPECT_EQ(fs::canonical(made), fs::canonical(folder_) / "tiny.so");
  const Plugin found = describe_file(made, options_);
  EXPECT_EQ(found.name, "tiny");
  EXPECT_EQ(found.file.framework, "");
}

TEST_F(BuildPluginFile, PassesTheCompilersOutputOnUnchanged) {
  write_file("broken.cpp", "#include <kymo/workload.hpp>\nthis is no program\n");
  std::string output;
  try {
    build({"broken.cpp"}, &output);
    FAIL() << "it compiled";
  } catch (const Error& problem) {
    EXPECT_THAT(problem.what(), AllOf(HasSubstr("'broken.cpp'"), HasSubstr("failed")));
    EXPECT_EQ(problem.code(), ExitCode::kToolError);
  }
  EXPECT_THAT(output, AllOf(HasSubstr("broken.cpp:2:1: error:"), HasSubstr("\n    2 | this is no program\n")));
  EXPECT_FALSE(fs::exists("broken.so"));
}

TEST_F(BuildPluginFile, CompilesSeveralSourcesWithTheUsersFlags) {
  fs::create_directories("headers");
  write_file("headers/answer.hpp", "double answer();\n");
  write_file("second.cpp", "#include <answer.hpp>\n#include <cmath>\ndouble answer() { return std::cos(VALUE); }\n");
  write_file("first.cpp",
             "#include <kymo/workload.hpp>\n"
             "#include <answer.hpp>\n"
             "struct First final : kymo::Workload {\n"
             "  static kymo::Descriptor describe() { return {\"first\", std::to_string(answer())}; }\n"
             "  void step(kymo::Context&) override {}\n"
             "};\n"
             "KYMO_EXPORT_WORKLOADS(First)\n");
  const fs::path made = build({"first.cpp", "second.cpp"}, nullptr, {"-Iheaders", "-DVALUE=0"}, {"-L.", "-lm"});
  EXPECT_EQ(describe_file(made, options_).workloads.at(0).documentation, "1.000000");
}

/// Stands for nvcc: records its arguments and compiles the source as C++.
TEST_F(BuildPluginFile, CompilesCudaSourcesWithNvccOfCudaHome) {
  fs::create_directories("cuda/bin");
  fs::create_directories("cuda/lib64");
  fs::create_directories("cuda/include");
  write_file("cuda/bin/nvcc",
             "#!/bin/sh\n"
             "echo \"$@\" >\"$(dirname \"$0\")/arguments\"\n"
             "while [ \"$1\" != -c ]; do shift; done\n"
             "exec c++ -fPIC -x c++ -c \"$2\" -o \"$4\"\n");
  fs::permissions("cuda/bin/nvcc", fs::perms::owner_all);
  write_file("cuda/lib64/libcudart_static.a", "!<arch>\n");
  const ScopedEnvironment home("CUDA_HOME", (folder_ / "cuda").string());
  write_file("twice.cu", "int twice(int x) { return 2 * x; }\n");
  write_file("host.cpp",
             "#include <kymo/workload.hpp>\n"
             "int twice(int);\n"
             "struct Host final : kymo::Workload {\n"
             "  static kymo::Descriptor describe() { return {\"host\", std::to_string(twice(21))}; }\n"
             "  void step(kymo::Context&) override {}\n"
             "};\n"
             "KYMO_EXPORT_WORKLOADS(Host)\n");
  const fs::path made = build({"host.cpp", "twice.cu"}, nullptr, {"-DTEXT=\"a\""});
  EXPECT_EQ(describe_file(made, options_).workloads.at(0).documentation, "42");
  EXPECT_THAT(read_file("cuda/bin/arguments"),
              AllOf(HasSubstr("arch=compute_90a,code=sm_90a"), HasSubstr("-DTEXT=\\\"a\\\"")));
}

TEST_F(BuildPluginFile, SaysHowToGetNvcc) {
  const ScopedEnvironment home("CUDA_HOME", (folder_ / "nothing").string());
  const ScopedEnvironment torch("KYMO_TORCH", (folder_ / "nothing").string());
  const ScopedEnvironment path("PATH", (folder_ / "nothing").string());
  write_file("twice.cu", "");
  EXPECT_THAT(message_of([] { build({"twice.cu"}); }), AllOf(HasSubstr("'twice.cu' needs the CUDA compiler nvcc"),
                                                             HasSubstr("CUDA_HOME"), HasSubstr("pip install")));
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
  EXPECT_THROW(build({"loose.cpp"}), Error);
}

TEST_F(BuildPluginFile, RejectsWhatIsNoSource) {
  EXPECT_THAT(message_of([] { build({"absent.cpp"}); }), HasSubstr("no such source file"));
  write_file("Bad-Name.cpp", "");
  EXPECT_THAT(message_of([] { build({"Bad-Name.cpp"}); }), HasSubstr("'Bad-Name'"));
  write_file("notes.txt", "");
  EXPECT_THAT(message_of([] { build({"notes.txt"}); }), HasSubstr("(.cpp, .cc, .cxx, .cu)"));
}

TEST_F(BuildPluginFile, SaysThatThereIsNoCompiler) {
  const ScopedEnvironment compiler("CXX", "/no/such/compiler");
  write_file("tiny.cpp", "");
  EXPECT_THAT(message_of([] { build({"tiny.cpp"}); }), HasSubstr("/no/such/compiler"));
}

}  // namespace
}  // namespace kymo::catalog::test

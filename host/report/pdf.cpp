// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/private_folder.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "report/renderer.hpp"

namespace kymo::report {
namespace {

namespace fs = std::filesystem;

constexpr double kLongest_s = 300;
constexpr const char* kWithPackage = "import sys, typst; typst.compile(sys.argv[1], output=sys.argv[2])";

/// The program typst, or its Python package. Throws UsageError if there is neither.
std::vector<std::string> typst_command(const std::string& source, const std::string& output) {
  if (find_program("typst")) return {"typst", "compile", source, output};
  if (find_program("python3")) {
    SpawnOptions probe;
    probe.command = {"python3", "-c", "import typst"};
    if (run_command(probe, kLongest_s).end.exit_code == 0) return {"python3", "-c", kWithPackage, source, output};
  }
  throw UsageError(
      "the format pdf needs Typst: install the program typst, or its Python package with 'python3 -m pip install "
      "typst'; --format typst writes the source without it");
}

}  // namespace

void require_typst() { typst_command("", ""); }

std::vector<OutputFile> render_pdf(const Document& document) {
  const PrivateFolder scratch("kymo-pdf");
  const std::vector<OutputFile> sources = render_typst(document);
  for (const OutputFile& file : sources) {
    fs::create_directories((scratch.path() / file.path).parent_path());
    write_file(scratch.path() / file.path, file.content);
  }
  SpawnOptions options;
  const fs::path output = scratch.path() / "report.pdf";
  options.command = typst_command((scratch.path() / sources[0].path).string(), output.string());
  const CommandResult result = run_command(options, kLongest_s);
  if (result.end.exit_code != 0)
    throw Error("Typst could not write the PDF (" + result.end.describe() + "): " + trim(result.stderr_text));
  return {{"report.pdf", read_file(output)}};
}

}  // namespace kymo::report

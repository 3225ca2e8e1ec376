// SPDX-License-Identifier: Apache-2.0
#include "base/installation.hpp"

#include <cstdlib>
#include <optional>
#include <regex>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace kymo {
namespace fs = std::filesystem;
namespace {

/// Returns the value of `name = 'value'` or `name: type = 'value'` in a version.py, or an empty string.
std::string python_assignment(const std::string& text, const std::string& name) {
  std::smatch found;
  const std::regex pattern("(^|\\n)" + name + "[^=\\n]*= *'([0-9.]+)");
  return std::regex_search(text, found, pattern) ? found[2].str() : std::string();
}

TorchLocation describe(const fs::path& torch) {
  const auto library = torch / "lib" / "libtorch_cpu.so";
  if (!fs::exists(library)) throw Error("no " + quote(library.string()));
  TorchLocation location;
  location.torch = fs::canonical(torch);
  const auto text = read_file(torch / "version.py");
  location.version = python_assignment(text, "__version__");
  location.cuda = python_assignment(text, "cuda");
  location.library_folders.push_back(location.torch / "lib");
  const auto wheels = location.torch.parent_path() / "nvidia";
  for (const char* part : {"cu13/lib", "nccl/lib", "cudnn/lib"}) {
    if (fs::is_directory(wheels / part)) location.library_folders.push_back(wheels / part);
  }
  return location;
}

/// Locates the torch package of the python3 on PATH. Importing torch would take seconds, so only its path is queried.
fs::path torch_of_python() {
  const auto result = run_command({{"python3", "-c",
                                    "import importlib.util as u; s = u.find_spec('torch'); "
                                    "print(s.submodule_search_locations[0] if s else '', end='')"},
                                   {}},
                                  20);
  if (result.timed_out || result.end.exit_code != 0) throw Error("running python3 failed");
  if (result.stdout_text.empty()) throw Error("python3 has no torch");
  return result.stdout_text;
}

template <typename Find>
std::optional<TorchLocation> attempt(const std::string& where, std::vector<std::string>& reasons, Find find) {
  try {
    return describe(find());
  } catch (const std::exception& e) {
    reasons.push_back(where + ": " + e.what());
    return std::nullopt;
  }
}

}  // namespace

std::string version() { return KYMO_VERSION; }

const Installation& installation() {
  static const Installation found = [] {
    Installation paths;
    paths.root = own_executable().parent_path().parent_path();
    paths.plugins = paths.root / "lib" / "kymo" / "plugins";
    paths.modules = paths.root / "lib" / "kymo" / "modules";
    paths.share = paths.root / "share" / "kymo";
    return paths;
  }();
  return found;
}

TorchLocation find_torch() {
  std::vector<std::string> reasons;
  if (const char* chosen = std::getenv("KYMO_TORCH"); chosen && *chosen) {
    if (auto found = attempt("KYMO_TORCH", reasons, [&] { return fs::path(chosen); })) return *found;
    throw Error("no LibTorch at KYMO_TORCH: " + reasons.front() + "; set it to the directory of the torch package");
  }
  if (auto found = attempt("the build's torch", reasons, [] { return fs::path(KYMO_BUILD_TORCH); })) return *found;
  if (auto found = attempt("python3 on PATH", reasons, torch_of_python)) return *found;
  throw Error("no LibTorch found (" + join(reasons, "; ") + "); set KYMO_TORCH to the directory of the torch package");
}

}  // namespace kymo

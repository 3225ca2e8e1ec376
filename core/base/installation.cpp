// SPDX-License-Identifier: Apache-2.0
#include "base/installation.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace kymo {
namespace fs = std::filesystem;
namespace {

/// Returns the value of `name = 'value'` or `name: type = 'value'` in a version.py, or an empty string.
std::string python_assignment(const std::string& text, const std::string& name) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || trim(line.substr(0, std::min(equals, line.find(':')))) != name) continue;
    const std::string value = trim(line.substr(equals + 1));
    if (const std::size_t end = value.find('\'', 1); value.starts_with('\'') && end != std::string::npos)
      return value.substr(1, end - 1);
  }
  return "";
}

/// "2.11.0" of "2.11.0+cu130".
std::string digits_of(const std::string& version) {
  return version.substr(0, version.find_first_not_of("0123456789."));
}

TorchLocation describe(const fs::path& torch) {
  const auto library = torch / "lib" / "libtorch_cpu.so";
  if (!fs::exists(library)) throw Error("no " + quote(library.string()));
  TorchLocation location;
  location.torch = fs::canonical(torch);
  const auto text = read_file(torch / "version.py");
  location.full_version = python_assignment(text, "__version__");
  location.version = digits_of(location.full_version);
  location.cuda = digits_of(python_assignment(text, "cuda"));
  location.library_folders.push_back(location.torch / "lib");
  const auto wheels = location.torch.parent_path() / "nvidia";
  for (const char* part : {"cu13/lib", "nccl/lib", "cudnn/lib"}) {
    if (fs::is_directory(wheels / part)) location.library_folders.push_back(wheels / part);
  }
  return location;
}

/// The torch package of the Python environment with this root directory.
fs::path torch_of_environment(const fs::path& root) {
  std::error_code failed;
  for (fs::directory_iterator at(root / "lib", failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path torch = at->path() / "site-packages" / "torch";
    if (at->path().filename().string().starts_with("python3") && fs::is_directory(torch)) return torch;
  }
  throw Error("no torch in " + quote((root / "lib" / "python3*" / "site-packages").string()));
}

/// The interpreter of the environment that contains the package <environment>/lib/python3.N/site-packages/NAME.
fs::path interpreter_of(const fs::path& package) {
  return package.parent_path().parent_path().parent_path().parent_path() / "bin" / "python3";
}

fs::path checked_interpreter(const std::string& source, const std::string& program) {
  if (const auto found = find_program(program)) return fs::absolute(*found);
  throw UsageError(source + ": " + quote(program) + " is not an executable file");
}

/// Locates the torch package of an interpreter. Importing torch would take seconds, so only its path is queried.
fs::path torch_package_of(const std::string& python) {
  const auto result = run_command({{python, "-c",
                                    "import importlib.util as u; s = u.find_spec('torch'); "
                                    "print(s.submodule_search_locations[0] if s else '', end='')"},
                                   {}},
                                  20);
  if (result.timed_out || result.end.exit_code != 0) throw Error("running " + python + " failed");
  if (result.stdout_text.empty()) throw Error(python + " has no torch");
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

std::string build_torch_version() { return KYMO_BUILD_TORCH_VERSION; }

Installation installation_at(const fs::path& root) {
  const fs::path libraries = root / "lib" / "kymo";
  return {.root = root,
          .plugins = libraries / "plugins",
          .modules = libraries / "modules",
          .python = libraries / "python",
          .share = root / "share" / "kymo"};
}

const Installation& installation() {
  static const Installation found = installation_at(own_executable().parent_path().parent_path());
  return found;
}

fs::path find_interpreter(const std::string& chosen) {
  if (!chosen.empty()) return checked_interpreter("--python", chosen);
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment)
    return checked_interpreter("VIRTUAL_ENV", (fs::path(environment) / "bin" / "python3").string());
  for (const fs::path& program : {installation().root / "bin" / "python3", interpreter_of(KYMO_BUILD_TORCH)})
    if (find_program(program.string())) return program;
  if (const auto found = find_program("python3")) return fs::absolute(*found);
  throw Error("no Python interpreter found: activate a virtual environment or pass --python PROGRAM");
}

std::vector<std::string> python_worker_command(const fs::path& interpreter) {
  return {interpreter.string(), (installation().python / "kymo_worker.py").string()};
}

TorchLocation torch_of_interpreter(const fs::path& interpreter) {
  return describe(torch_package_of(interpreter.string()));
}

TorchLocation find_torch() {
  std::vector<std::string> reasons;
  if (const char* chosen = std::getenv("KYMO_TORCH"); chosen && *chosen) {
    if (auto found = attempt("KYMO_TORCH", reasons, [&] { return fs::path(chosen); })) return *found;
    throw Error("no LibTorch at KYMO_TORCH: " + reasons.front() + "; set it to the directory of the torch package");
  }
  if (auto found = attempt("this installation", reasons, [] { return torch_of_environment(installation().root); }))
    return *found;
  if (auto found = attempt("the build's torch", reasons, [] { return fs::path(KYMO_BUILD_TORCH); })) return *found;
  if (auto found = attempt("python3 on PATH", reasons, [] { return torch_package_of("python3"); })) return *found;
  throw Error("no LibTorch found (" + join(reasons, "; ") + "); set KYMO_TORCH to the directory of the torch package");
}

}  // namespace kymo

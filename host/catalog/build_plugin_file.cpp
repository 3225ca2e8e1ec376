// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/installation.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

constexpr double kDeadlineSeconds = 1800;  // compiling LibTorch's headers takes minutes on a small machine

std::string plugin_name(const fs::path& source) {
  const std::string name = source.stem().string();
  if (!is_name(name)) throw UsageError("invalid plugin name " + quote(name) + ": rename the file; " + kNameRule);
  if (name.starts_with("lib"))
    throw UsageError("rename " + quote(name + ".cpp") +
                     ": files named lib*.so are treated as shared libraries, not plugins");
  return name;
}

/// $CXX may contain a launcher and flags, as in "ccache g++".
std::vector<std::string> compiler() {
  const char* chosen = std::getenv("CXX");
  std::vector<std::string> words;
  for (const std::string& word : split(chosen ? chosen : "", ' '))
    if (!word.empty()) words.push_back(word);
  return words.empty() ? std::vector<std::string>{"c++"} : words;
}

std::string defined(const std::string& name, const std::string& text) { return "-D" + name + "=\"" + text + "\""; }

void add_torch(std::vector<std::string>& command) {
  const TorchLocation torch = find_torch();
  const std::string include = (torch.torch / "include").string();
  const fs::path lib = torch.torch / "lib";
  for (const std::string& folder : {include, include + "/torch/csrc/api/include"})
    command.insert(command.end(), {"-isystem", folder});
  command.insert(command.end(),
                 {defined("KYMO_PLUGIN_FRAMEWORK", "libtorch"), defined("KYMO_PLUGIN_FRAMEWORK_VERSION", torch.version),
                  "-D_GLIBCXX_USE_CXX11_ABI=1"});
  // libtorch.so loads the CUDA kernels; it must stay linked although none of its symbols is referenced.
  command.insert(command.end(),
                 {"-Wl,--allow-shlib-undefined", "-Wl,--push-state,--no-as-needed", (lib / "libtorch.so").string(),
                  "-Wl,--pop-state", (lib / "libtorch_cpu.so").string(), (lib / "libc10.so").string()});
}

}  // namespace

fs::path build_plugin_file(const fs::path& source_cpp, bool torch) {
  std::error_code failed;
  if (!fs::is_regular_file(source_cpp, failed)) throw UsageError("no such source file: " + quote(source_cpp.string()));
  const std::string name = plugin_name(source_cpp);
  const fs::path root = installation().root;
  const fs::path script = root / "lib" / "cmake" / "kymo" / "kymo_plugin.version";
  if (!fs::exists(root / "include" / "kymo" / "workload.hpp") || !fs::exists(script)) {
    throw Error("kymo's headers are not installed: missing " +
                quote((root / "include" / "kymo" / "workload.hpp").string()));
  }
  const fs::path result = fs::absolute(name + ".so");
  const TemporarySibling made = make_sibling(result);
  if (made.fd < 0) throw Error("cannot write " + quote(result.string()) + ": " + std::strerror(errno));
  close(made.fd);
  const fs::path& fresh = made.path;
  std::vector<std::string> command = compiler();
  command.insert(command.end(),
                 {"-std=c++20", "-O2", "-g1", "-fPIC", "-shared", "-fvisibility=hidden", "-fvisibility-inlines-hidden",
                  "-isystem", (root / "include").string(), "-isystem", (root / "include" / "kymo" / "abi").string(),
                  defined("KYMO_PLUGIN_NAME", name), fs::absolute(source_cpp).string(), "-o", fresh.string(),
                  "-Wl,--version-script=" + script.string(), "-Wl,-z,defs", "-Wl,-rpath,$ORIGIN"});
  if (torch) add_torch(command);
  SpawnOptions options;
  options.command = command;
  const CommandResult outcome = run_command(options, kDeadlineSeconds);
  if (outcome.timed_out || outcome.end.exit_code != 0) {
    fs::remove(fresh, failed);
    const std::string how = outcome.timed_out ? "took too long" : "failed (" + outcome.end.describe() + ")";
    throw Error(command.front() + " " + how + " on " + quote(source_cpp.string()) + "; its output:\n" +
                trim(outcome.stderr_text + outcome.stdout_text));
  }
  fs::rename(fresh, result);  // a running process keeps using the old plugin file
  return result;
}

}  // namespace kymo::catalog

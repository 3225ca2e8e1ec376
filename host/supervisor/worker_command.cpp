// SPDX-License-Identifier: Apache-2.0
#include "supervisor/worker_command.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "supervisor/program.hpp"

namespace kymo::supervisor {
namespace {

constexpr const char* kThreadsVariable = "OMP_NUM_THREADS";

/// Folders for the workers' library search path, or the reason why there are none. Looked up once, because this may
/// start a Python interpreter.
struct TorchFolders {
  std::string path;
  std::string reason;
};

const TorchFolders& torch_folders() {
  static const TorchFolders found = [] {
    TorchFolders folders;
    try {
      std::vector<std::string> texts;
      for (const auto& folder : find_torch().library_folders) texts.push_back(folder.string());
      folders.path = join(texts, ":");
    } catch (const Error& e) {
      folders.reason = e.what();
    }
    return folders;
  }();
  return found;
}

/// Value of LD_LIBRARY_PATH for this run; nullopt if it needs no change.
std::optional<std::string> library_path(const PlannedRun& run) {
  if (!run.what.plugin_interpreter.empty()) return std::nullopt;  // its torch finds its own libraries
  const bool needs_torch = run.plugin.framework == "libtorch";
  if (!needs_torch && run.what.device != measure::DeviceKind::kCuda) return std::nullopt;
  const TorchFolders& folders = torch_folders();
  if (folders.path.empty()) {
    if (needs_torch) throw Error("the plugin " + quote(run.plugin.name) + " needs LibTorch: " + folders.reason);
    log::debug("no LibTorch for the worker's library path: " + folders.reason);
    return std::nullopt;
  }
  const char* before = std::getenv("LD_LIBRARY_PATH");
  return before && *before ? folders.path + ":" + before : folders.path;
}

}  // namespace

bool forks_for_passes(const PlannedRun& run) { return !run.what.plugin_interpreter.empty() && run.method.wrap.empty(); }

SpawnOptions kymo_worker(const SpawnRequest& request) {
  if (!request.run.program.command.empty()) return observed_program(request);
  SpawnOptions options;
  for (const auto& word : split(request.run.method.wrap, ' '))
    if (!word.empty()) options.command.push_back(word);
  if (request.run.what.plugin_interpreter.empty()) {
    options.command.push_back(own_executable().string());
  } else {
    for (const std::string& word : python_worker_command(request.run.what.plugin_interpreter))
      options.command.push_back(word);
  }
  for (const std::string& word : {std::string("worker"), std::string("--connect"), request.address,
                                  std::string("--rank"), std::to_string(request.rank)})
    options.command.push_back(word);
  if (request.shares_cores && forks_for_passes(request.run)) {
    options.command.emplace_back("--fork-after-import");
    options.command.emplace_back(request.run.plugin.framework == "libtorch" ? "torch" : "");
  }
  options.environment.emplace_back(kTokenVariable, request.token);
  if (const auto path = library_path(request.run)) options.environment.emplace_back("LD_LIBRARY_PATH", *path);
  // Ranks that each use all cores compete for them, which is many times slower than giving each rank a share.
  if (request.shares_cores && request.run.what.ranks > 1 && !std::getenv(kThreadsVariable)) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    options.environment.emplace_back(kThreadsVariable, std::to_string(std::max(1, cores / request.run.what.ranks)));
  }
  return options;
}

}  // namespace kymo::supervisor

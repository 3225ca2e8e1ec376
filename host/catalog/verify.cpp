// SPDX-License-Identifier: Apache-2.0
#include <kymo_plugin.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/installation.hpp"
#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// find_torch() may start Python; its result is cached for each value of the environment variables it depends on.
const TorchLocation& torch_location() {
  static std::mutex guard;
  static std::map<std::pair<std::string, std::string>, TorchLocation> known;
  const std::lock_guard lock(guard);
  const auto key = std::pair(environment("KYMO_TORCH"), environment("PATH"));
  const auto at = known.find(key);
  return at != known.end() ? at->second : known.emplace(key, find_torch()).first->second;
}

/// LibTorch has no stable ABI between versions, so a plugin only runs with the LibTorch version it was built with.
void check_framework(const fs::path& file, const kymo_note& note) {
  const std::string framework = note.framework;
  if (framework.empty()) return;
  if (framework != kLibTorch)
    throw PluginRejected(file, "it requires the framework " + quote(framework) + ", which is unknown to this kymo");
  const TorchLocation* torch = nullptr;
  try {
    torch = &torch_location();
  } catch (const Error& missing) {
    throw PluginRejected(file, std::string("it requires LibTorch ") + note.framework_version + ": " + missing.what());
  }
  if (torch->version != note.framework_version) {
    throw PluginRejected(file, std::string("it was built with LibTorch ") + note.framework_version +
                                   ", but the installed version is " + torch->version + " in " +
                                   quote(torch->torch.string()) + ": rebuild it or set KYMO_TORCH");
  }
  if (*note.cuda_version && torch->cuda != note.cuda_version) {
    throw PluginRejected(file, std::string("it was built with LibTorch for CUDA ") + note.cuda_version +
                                   ", but the installed LibTorch is for " +
                                   (torch->cuda.empty() ? "CPU only" : "CUDA " + torch->cuda) +
                                   ": rebuild it or set KYMO_TORCH");
  }
  if (std::string(note.cxx_abi) != "cxx11") {
    throw PluginRejected(file,
                         "it was built with C++ library ABI " + quote(note.cxx_abi) + ", but LibTorch uses 'cxx11'");
  }
}

}  // namespace

void check_abi(const fs::path& file, const kymo_note& note) {
  const auto text = [](int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); };
  if (note.abi_major == KYMO_ABI_MAJOR && note.abi_minor <= KYMO_ABI_MINOR) return;
  throw PluginRejected(file, "it was built for plugin ABI " + text(note.abi_major, note.abi_minor) +
                                 ", but this kymo supports " + text(KYMO_ABI_MAJOR, KYMO_ABI_MINOR) +
                                 ": rebuild it with this kymo");
}

PluginFile existing_file(const fs::path& file, bool trust) {
  std::error_code failed;
  const fs::path real = fs::canonical(file, failed);
  if (failed) throw PluginRejected(file, "no such file: " + failed.message());
  if (!fs::is_regular_file(real, failed)) throw PluginRejected(file, "it is not a regular file");
  if (const std::string reason = trust ? "" : why_alterable(real); !reason.empty()) {
    throw PluginRejected(real,
                         reason + ", so that others could run code as you; correct the permissions or pass --trust");
  }
  PluginFile identity;
  identity.file = real;
  return identity;
}

PluginFile verify_file(const fs::path& file, bool trust) {
  PluginFile identity = existing_file(file, trust);
  const kymo_note note = read_note(identity.file);
  check_abi(identity.file, note);
  check_framework(identity.file, note);
  identity.abi_major = note.abi_major;
  identity.abi_minor = note.abi_minor;
  identity.framework = note.framework;
  identity.framework_version = note.framework_version;
  identity.cuda_version = note.cuda_version;
  identity.compiler = note.compiler;
  identity.cxx_abi = note.cxx_abi;
  return identity;
}

std::vector<std::pair<std::string, std::string>> loader_environment(const PluginFile& file) {
  if (file.framework != kLibTorch) return {};
  std::vector<std::string> folders;
  for (const auto& folder : torch_location().library_folders) folders.push_back(folder.string());
  if (const std::string before = environment("LD_LIBRARY_PATH"); !before.empty()) folders.push_back(before);
  return {{"LD_LIBRARY_PATH", join(folders, ":")}};
}

}  // namespace kymo::catalog

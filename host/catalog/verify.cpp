// SPDX-License-Identifier: Apache-2.0
#include "catalog/verify.hpp"

#include <kymo_plugin.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/file.hpp"
#include "base/installation.hpp"
#include "catalog/elf_note.hpp"
#include "catalog/refused.hpp"

namespace kymo::catalog {
namespace {
namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// find_torch() may have to ask python; the answer is kept for as long as the environment it follows from stays.
const TorchLocation& torch_location() {
  static std::mutex guard;
  static std::map<std::pair<std::string, std::string>, TorchLocation> known;
  const std::lock_guard lock(guard);
  const auto key = std::pair(environment("KYMO_TORCH"), environment("PATH"));
  const auto at = known.find(key);
  return at != known.end() ? at->second : known.emplace(key, find_torch()).first->second;
}

void check_abi(const fs::path& file, const kymo_note& note) {
  const auto text = [](int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); };
  if (note.abi_major == KYMO_ABI_MAJOR && note.abi_minor <= KYMO_ABI_MINOR) return;
  throw Refused(file, "it was built for plugin interface " + text(note.abi_major, note.abi_minor) + ", this kymo has " +
                          text(KYMO_ABI_MAJOR, KYMO_ABI_MINOR) + ": build it again with this kymo");
}

/// LibTorch promises nothing between versions, so a plugin that uses it runs with the version it was built with, and no
/// other.
void check_framework(const fs::path& file, const kymo_note& note) {
  const std::string framework = note.framework;
  if (framework.empty()) return;
  if (framework != kLibTorch)
    throw Refused(file, "it needs the framework " + quote(framework) + ", which this kymo does not know");
  const TorchLocation* torch = nullptr;
  try {
    torch = &torch_location();
  } catch (const Error& missing) {
    throw Refused(file, std::string("it needs LibTorch ") + note.framework_version + ": " + missing.what());
  }
  if (torch->version != note.framework_version) {
    throw Refused(file, std::string("it was built with LibTorch ") + note.framework_version +
                            ", but the one found is " + torch->version + " in " + quote(torch->torch.string()) +
                            ": build it again, or set KYMO_TORCH");
  }
  if (*note.cuda_version && torch->cuda != note.cuda_version) {
    throw Refused(file, std::string("it was built with LibTorch for CUDA ") + note.cuda_version +
                            ", but the one found is for " + (torch->cuda.empty() ? "CPU only" : "CUDA " + torch->cuda) +
                            ": build it again, or set KYMO_TORCH");
  }
  if (std::string(note.cxx_abi) != "cxx11") {
    throw Refused(file, "it was built with the C++ library ABI " + quote(note.cxx_abi) + ", LibTorch with 'cxx11'");
  }
}

}  // namespace

PluginFile identify(const fs::path& file, bool trust) {
  std::error_code failed;
  const fs::path real = fs::canonical(file, failed);
  if (failed) throw Refused(file, "it cannot be found: " + failed.message());
  if (!fs::is_regular_file(real, failed)) throw Refused(file, "it is no regular file");
  if (!trust && is_world_writable(real)) {
    throw Refused(real, "others may write the file or its folder; take that right away (chmod o-w), or pass --trust");
  }
  const kymo_note note = read_note(real);
  check_abi(real, note);
  check_framework(real, note);
  PluginFile result;
  result.file = real;
  result.abi_major = note.abi_major;
  result.abi_minor = note.abi_minor;
  result.framework = note.framework;
  result.framework_version = note.framework_version;
  result.cuda_version = note.cuda_version;
  result.compiler = note.compiler;
  result.cxx_abi = note.cxx_abi;
  return result;
}

PluginFile verify_file(const fs::path& file, bool trust) {
  PluginFile result = identify(file, trust);
  result.sha256 = sha256_of_file(result.file);
  return result;
}

std::vector<std::pair<std::string, std::string>> loader_environment(const PluginFile& file) {
  if (file.framework != kLibTorch) return {};
  std::vector<std::string> folders;
  for (const auto& folder : torch_location().library_folders) folders.push_back(folder.string());
  if (const std::string before = environment("LD_LIBRARY_PATH"); !before.empty()) folders.push_back(before);
  return {{"LD_LIBRARY_PATH", join(folders, ":")}};
}

}  // namespace kymo::catalog

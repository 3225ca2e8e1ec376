// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <map>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"

extern char** environ;  // NOLINT: POSIX has it in no header

namespace kymo::cli {
namespace {

std::string unquoted(const std::string& text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Release ...": the version is the first word that starts
/// with a digit and contains a dot.
std::string driver_version() {
  for (const std::string& word : split(value_of_line("/proc/driver/nvidia/version", "NVRM version", ':'), ' ')) {
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos) return word;
  }
  return "";
}

bool matters(const std::string& variable) {
  if (variable == "KYMO_WORKER_TOKEN") return false;
  for (const char* prefix : {"OMP_", "MKL_", "CUDA_", "NCCL_", "TORCH_", "PYTORCH_", "KYMO_", "GLOO_", "CUBLAS_", "LD_",
                             "MALLOC_", "GLIBC_TUNABLES", "NVIDIA_TF32_OVERRIDE"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::map<std::string, std::string> variables_that_matter() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && matters(text.substr(0, equals)))
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace

Facts machine_facts() {
  Facts facts;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) facts.emplace_back(name, value);
  };
  utsname system{};
  if (uname(&system) == 0) {
    add("host", system.nodename);
    add("kernel", std::string(system.sysname) + " " + system.release + " " + system.machine);
  }
  add("os", unquoted(value_of_line("/etc/os-release", "PRETTY_NAME", '=')));
  add("cpu", cpu_model());
  add("cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  add("memory_bytes", std::to_string(static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)));
  add("driver", driver_version());
  try {
    const TorchLocation torch = find_torch();
    add("torch", torch.version);
    add("cuda", torch.cuda);
  } catch (const Error&) {
    // Without LibTorch the fact is omitted; a workload that needs it reports the error itself.
  }
  add("kymo", version());
  for (const auto& [name, value] : variables_that_matter()) add(name, value);
  return facts;
}

}  // namespace kymo::cli

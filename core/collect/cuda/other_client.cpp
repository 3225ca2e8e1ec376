// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/other_client.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::collect {
namespace {

struct Known {
  std::string_view file;  // substring of a library's file name
  std::string_view tool;
};

constexpr std::array kKnown{
    Known{"libToolsInjection", "Nsight Systems"},
    Known{"libcuda-injection", "Nsight Compute"},
    Known{"libTreeLauncherTargetInjection", "Nsight Compute"},
    Known{"libsanitizer-collection", "Compute Sanitizer"},
    Known{"libInterceptorInjection", "Nsight Compute or Compute Sanitizer"},
    Known{"libkineto", "Kineto"},
    Known{"libnvperf_target", "a performance counter client"},
    Known{"libscorep", "Score-P"},
    Known{"libTAU", "TAU"},
    Known{"libhpcrun", "HPCToolkit"},
};

constexpr const char* kInjectionEntry = "InitializeInjection";

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Returns the path in a line of /proc/PID/maps, which follows the fifth column.
std::string_view mapped_path(std::string_view line) {
  const std::size_t slash = line.find('/');
  return slash == std::string_view::npos ? std::string_view() : line.substr(slash);
}

void add(std::vector<std::string>& names, std::string name) {
  if (!contains(names, name)) names.push_back(std::move(name));
}

void add_known(const std::string& maps, std::vector<std::string>& names) {
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view file = file_name(mapped_path(line));
    for (const Known& known : kKnown) {
      if (file.find(known.file) != std::string_view::npos)
        add(names, std::string(known.tool) + " (" + quote(file) + ")");
    }
  }
}

int add_if_injected(dl_phdr_info* object, std::size_t, void* libraries) {
  if (!object->dlpi_name || !*object->dlpi_name) return 0;
  void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return 0;
  // dlsym also searches a library's dependencies; only symbols that the library itself defines count.
  Dl_info where{};
  const void* entry = dlsym(handle, kInjectionEntry);
  if (entry && dladdr(entry, &where) && reinterpret_cast<ElfW(Addr)>(where.dli_fbase) == object->dlpi_addr) {
    static_cast<std::vector<std::string>*>(libraries)->push_back(object->dlpi_name);
  }
  dlclose(handle);
  return 0;
}

}  // namespace

std::string name_other_client(const ProfilerTraces& traces) {
  std::vector<std::string> names;
  add_known(traces.maps, names);
  if (!traces.cuda_injection.empty()) add(names, quote(traces.cuda_injection) + " (CUDA_INJECTION64_PATH)");
  for (const std::string& library : traces.injection_libraries) {
    if (library != traces.cuda_injection) add(names, "an injected library " + quote(library));
  }
  if (names.empty() && !traces.nvtx_injection.empty())
    add(names, quote(traces.nvtx_injection) + " (NVTX_INJECTION64_PATH)");
  return names.empty() ? "another CUPTI client in this process" : join(names, ", ");
}

ProfilerTraces profiler_traces() {
  ProfilerTraces traces;
  std::ifstream maps("/proc/self/maps");
  traces.maps.assign(std::istreambuf_iterator<char>(maps), {});
  traces.cuda_injection = environment("CUDA_INJECTION64_PATH");
  traces.nvtx_injection = environment("NVTX_INJECTION64_PATH");
  dl_iterate_phdr(add_if_injected, &traces.injection_libraries);
  return traces;
}

}  // namespace kymo::collect

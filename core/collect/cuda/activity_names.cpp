// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/activity_names.hpp"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace kymo::collect {
namespace {

/// CUPTI's names of runtime functions end in the CUDA version that introduced them, for example _v7000.
void drop_version(std::string& name) {
  std::size_t digits = 0;
  while (digits < name.size() && std::isdigit(static_cast<unsigned char>(name[name.size() - 1 - digits]))) ++digits;
  const std::size_t rest = name.size() - digits;
  if (digits >= 4 && rest > 2 && name.compare(rest - 2, 2, "_v") == 0) name.resize(rest - 2);
}

}  // namespace

std::string readable_kernel_name(const char* name) {
  if (!name || !*name) return "unnamed kernel";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                              &std::free);
  // Do not demangle names of C functions: a single letter such as "f" would demangle to a type.
  const bool mangled = name[0] == '_' && name[1] == 'Z';
  return mangled && status == 0 && demangled ? demangled.get() : name;
}

const char* memcpy_kind_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "memcpy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "memcpy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "memcpy host to array";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "memcpy array to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return "memcpy array to array";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return "memcpy array to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "memcpy device to array";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "memcpy device to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "memcpy host to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "memcpy peer to peer";
    default:
      return "memcpy";
  }
}

const char* synchronization_type_name(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return "stream event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "stream";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "context";
    default:
      return "unknown";
  }
}

const char* overhead_kind_name(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "unified memory start";
    default:
      return "unknown";
  }
}

std::string api_call_name(bool runtime, std::uint32_t number) {
  const char* found = nullptr;
  const CUpti_CallbackDomain domain = runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  if (cuptiGetCallbackName(domain, number, &found) != CUPTI_SUCCESS || !found) {
    return std::string(runtime ? "runtime" : "driver") + " call " + std::to_string(number);
  }
  std::string name = found;
  if (runtime) drop_version(name);
  return name;
}

}  // namespace kymo::collect

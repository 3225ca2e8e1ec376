// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <kymo_plugin.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "../context.hpp"
#include "../verification.hpp"
#include "../workload_class.hpp"

/// Functions of the C table. They convert every exception into a status.
namespace kymo::detail {

/// Recognizes LibTorch's out-of-memory error by its type name, so that this header does not depend on LibTorch.
/// LibTorch's CPU allocator throws a plain c10::Error, which is recognized by its message.
inline bool is_out_of_memory(const std::type_info* type, const char* what) {
  return (type && std::strcmp(type->name(), "N3c1016OutOfMemoryErrorE") == 0) ||
         std::strstr(what, "DefaultCPUAllocator: can't allocate memory");
}

/// Describes a caught exception that does not derive from std::exception. Call it inside a catch block.
inline std::string name_of_current_exception() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (!type) return "an unknown value was thrown";
  int status = 0;
  char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text =
      "a value of type '" + std::string(status == 0 && readable ? readable : type->name()) + "' was thrown";
  std::free(readable);
  return text;
}

inline kymo_status report(const Context& context, kymo_status status, const char* message) noexcept {
  if (context.host()->fail) context.host()->fail(context.handle(), status, message);
  return status;
}

/// Runs `body` and converts any exception into a status and an error message for the host.
template <typename Body>
kymo_status guarded(const Context& context, Body&& body) noexcept {
  try {
    body();
    return KYMO_OK;
  } catch (const Skipped&) {
    return KYMO_SKIPPED;
  } catch (const std::bad_alloc&) {
    return report(context, KYMO_OUT_OF_MEMORY, "std::bad_alloc: host memory could not be allocated");
  } catch (const std::exception& error) {
    return report(
        context, is_out_of_memory(abi::__cxa_current_exception_type(), error.what()) ? KYMO_OUT_OF_MEMORY : KYMO_FAILED,
        error.what());
  } catch (...) {
    return report(context, KYMO_FAILED, name_of_current_exception().c_str());
  }
}

/// The object behind the host's void* instance pointer.
struct Instance {
  Instance(const kymo_host* host, kymo_context* handle) : context(host, handle) {}
  Context context;
  Workload* workload = nullptr;
  Verification verification;  ///< owns the strings of `checks`
  std::vector<kymo_check> checks;
};

inline void publish(Instance& self, kymo_verification* out) {
  if (self.verification.checks().empty()) self.verification = Verification::unavailable("verify() returned no checks");
  self.checks.clear();
  for (const Check& check : self.verification.checks()) {
    self.checks.push_back({sizeof(kymo_check), static_cast<std::uint32_t>(check.outcome), check.name.c_str(),
                           check.reference.c_str(), check.detail.c_str(), check.deviation.max_abs,
                           check.deviation.max_rel, check.tolerance});
  }
  out->check_count = static_cast<std::uint32_t>(self.checks.size());
  out->checks = self.checks.data();
}

template <typename W>
kymo_status create(const kymo_workload*, const kymo_host* host, kymo_context* handle, void** out) noexcept {
  return guarded(Context(host, handle), [&] {
    auto instance = std::make_unique<Instance>(host, handle);
    if constexpr (std::is_constructible_v<W, Context&>) {
      instance->workload = new W(instance->context);
    } else {
      instance->workload = new W();
    }
    *out = instance.release();
  });
}

inline kymo_status prepare(void* instance, kymo_context*) noexcept {
  auto& self = *static_cast<Instance*>(instance);
  return guarded(self.context, [&] { self.workload->prepare(self.context); });
}

inline kymo_status before_step(void* instance, kymo_context*) noexcept {
  auto& self = *static_cast<Instance*>(instance);
  return guarded(self.context, [&] { self.workload->before_step(self.context); });
}

inline kymo_status step(void* instance, kymo_context*) noexcept {
  auto& self = *static_cast<Instance*>(instance);
  return guarded(self.context, [&] { self.workload->step(self.context); });
}

inline kymo_status verify(void* instance, kymo_context*, kymo_verification* out) noexcept {
  auto& self = *static_cast<Instance*>(instance);
  return guarded(self.context, [&] {
    self.verification = self.workload->verify(self.context);
    publish(self, out);
  });
}

inline void destroy(void* instance) noexcept {
  auto* self = static_cast<Instance*>(instance);
  if (!self) return;
  const Context context = self->context;
  const auto report_error = [&](const std::string& what) {
    if (context.host()->log)
      context.host()->log(context.handle(), KYMO_LOG_ERROR, ("the workload's destructor threw: " + what).c_str());
  };
  try {
    delete self->workload;
  } catch (const std::exception& error) {
    report_error(error.what());
  } catch (...) {
    report_error(name_of_current_exception());
  }
  delete self;
}

}  // namespace kymo::detail

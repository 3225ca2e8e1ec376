// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

/// Names of CUPTI's enumeration values.
namespace kymo::collect {

/// Returns the demangled name if `name` is a mangled C++ name, otherwise the name itself.
std::string readable_kernel_name(const char* name);
/// Name of a CUpti_ActivityMemcpyKind, for example "memcpy host to device".
const char* memcpy_kind_name(std::uint8_t kind);
/// event, stream, stream event, context or unknown.
const char* synchronization_type_name(CUpti_ActivitySynchronizationType type);
/// Name of the overhead of CUPTI or the driver.
const char* overhead_kind_name(CUpti_ActivityOverheadKind kind);
/// Name of a runtime or driver API call, for example "cudaLaunchKernel", without CUPTI's version suffix.
std::string api_call_name(bool runtime, std::uint32_t number);

}  // namespace kymo::collect

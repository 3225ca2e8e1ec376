// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

/// Names for what CUPTI numbers.
namespace kymo::collect {

/// Demangled if it is a C++ name.
std::string readable_kernel_name(const char* name);
/// "memcpy host to device" and the like, of a CUpti_ActivityMemcpyKind.
const char* words_of_copy(std::uint8_t kind);
/// event, stream, stream event, context or unknown.
const char* words_of_synchronization(CUpti_ActivitySynchronizationType type);
/// What CUPTI or the driver did meanwhile.
const char* words_of_pause(CUpti_ActivityOverheadKind kind);
/// "cudaLaunchKernel": a call of the runtime or of the driver, without the version that CUPTI adds.
std::string words_of_call(bool runtime, std::uint32_t number);

}  // namespace kymo::collect

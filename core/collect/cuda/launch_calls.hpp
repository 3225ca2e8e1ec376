// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>
#include <vector>

#include "event/trace.hpp"

/// The driver API functions that launch work on a GPU. The runtime API calls them internally, and libraries such as
/// cuBLASLt and cuDNN call them directly, so that tracing only the driver API captures every launch.
namespace kymo::collect {

struct LaunchCall {
  CUpti_CallbackId call;
  event::LaunchKind kind;
  std::uint32_t cupti_version = 0;  ///< the first with this function, as CUPTI_API_VERSION
};

/// The functions that all supported versions of CUPTI report, and those that this version reports, too.
std::vector<LaunchCall> launch_calls(std::uint32_t cupti_version);
/// Returns the kind of work that one of these functions launches.
event::LaunchKind kind_of_launch(CUpti_CallbackId call) noexcept;

}  // namespace kymo::collect

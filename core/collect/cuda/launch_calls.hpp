// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <span>

#include "event/trace.hpp"

/// The driver API functions that launch work on a GPU. The runtime API calls them internally, and libraries such as
/// cuBLASLt and cuDNN call them directly, so that tracing only the driver API captures every launch.
namespace kymo::collect {

struct LaunchCall {
  CUpti_driver_api_trace_cbid call;
  event::LaunchKind kind;
};

std::span<const LaunchCall> launch_calls();
/// Returns the kind of work that one of these functions launches.
event::LaunchKind kind_of_launch(CUpti_CallbackId call) noexcept;

}  // namespace kymo::collect

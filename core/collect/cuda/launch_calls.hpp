// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <span>

#include "event/trace.hpp"

/// The calls of the driver that put work on a GPU. Those of the runtime end in them, and libraries such as cuBLASLt and
/// cuDNN call them directly, so that watching the driver's alone sees every launch.
namespace kymo::collect {

struct LaunchCall {
  CUpti_driver_api_trace_cbid call;
  event::LaunchKind kind;
};

std::span<const LaunchCall> launch_calls();
/// Of one of them.
event::LaunchKind kind_of_launch(CUpti_CallbackId call) noexcept;

}  // namespace kymo::collect

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::collect {

/// Returns the GPUs in CUDA's order. Does not create a context. Throws Unavailable with CUDA's error message.
std::vector<event::Device> cuda_devices();

/// Returns one GPU. Throws Unavailable if the index is invalid.
event::Device cuda_device(int index);

/// Returns the version of the NVIDIA driver, or an empty string.
std::string nvidia_driver_version();

}  // namespace kymo::collect

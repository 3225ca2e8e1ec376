// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "event/records.hpp"

namespace kymo::collect {

/// The GPUs that CUDA sees, in its order. Makes no context. Throws Unavailable with CUDA's reason.
std::vector<event::Device> cuda_devices();

/// One of them; throws Unavailable if there is none of that index.
event::Device cuda_device(int index);

/// Version of the NVIDIA driver, or empty.
std::string nvidia_driver_version();

}  // namespace kymo::collect

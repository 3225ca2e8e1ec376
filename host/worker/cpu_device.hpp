// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "event/records.hpp"

namespace kymo::worker {

/// The CPU of this machine. Its uuid is a hash of host name, model and core count.
event::Device cpu_device();

}  // namespace kymo::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "store/sqlite.hpp"

namespace kymo::store {

/// Counts of kernels have their modules, launch configurations and times from the passes trace and ops, by their order
/// of launch (view kernel_work). Adds a dropped record for each of these passes whose steps launched other kernels.
/// Runs in the caller's transaction.
void compare_launch_order(const Connection& results, std::int64_t run_id);

}  // namespace kymo::store

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "store/sqlite.hpp"

namespace kymo::store {

/// Kind of the warning that passes of an observed program did not do the same.
inline constexpr const char* kDifferentExecutions = "different executions";

/// Each pass of an observed program is an execution of its own. Compares the measured steps of its passes: how many
/// there are, and how often each one entered each phase. Adds the warning `different executions` for each pass that
/// differs from the first one. Returns true if all passes did the same. Runs in the caller's transaction.
bool compare_executions(const Connection& results, std::int64_t run_id);

}  // namespace kymo::store

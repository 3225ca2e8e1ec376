// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "store/sqlite.hpp"

namespace kymo::store {

/// Derives tables step_duration and statistic of a run from its samples of the time pass. A step counts once every rank
/// has finished it, and lasts as long as on the slowest rank; warm-up steps never count, throttled ones only if no
/// other is left. Within the caller's transaction.
void summarize_run(const Connection& results, std::int64_t run_id);

/// Derives table overhead: per rank, observed pass and phase the median host time of its measured steps over that of
/// the time pass on the same rank, where both exist. Within the caller's transaction.
void derive_overhead(const Connection& results, std::int64_t run_id);

}  // namespace kymo::store

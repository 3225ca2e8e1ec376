// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "store/sqlite.hpp"

namespace kymo::store {

/// Derives the tables step_duration and statistic of a run from the samples of its time pass. A step counts if every
/// rank finished it; its duration is that of the slowest rank. Warm-up steps are excluded, and so are throttled steps
/// unless all steps are throttled. Runs in the caller's transaction.
void summarize_run(const Connection& results, std::int64_t run_id);

/// Derives the table overhead: the median host time of the measured steps of each rank, observing pass and phase,
/// divided by that of the time pass on the same rank, if both exist. Runs in the caller's transaction.
void derive_overhead(const Connection& results, std::int64_t run_id);

}  // namespace kymo::store

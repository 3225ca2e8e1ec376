// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::store {

/// Writes the records of one pass of one rank as a database with the same tables, in one transaction. The file appears
/// complete or not at all. If it cannot be written completely (disk full), the events are dropped and counted, so that
/// samples and totals survive. Throws Error if even these cannot be written (disk full, directory not writable).
void write_rank_file(const std::filesystem::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                     const event::PassRecord& record);

/// Adds metrics to a rank file. Does nothing if it does not exist. Throws Error.
void add_metrics(const std::filesystem::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                 const std::vector<event::Metric>& metrics);

/// Adds a warning to a rank file. Does nothing if it does not exist. Throws Error.
void add_warning(const std::filesystem::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                 const event::Warning& warning);

}  // namespace kymo::store

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::store {

/// Writes the records of one pass of one rank as a database with the same tables, in one transaction. The file appears
/// complete or not at all. If it cannot be written completely (disk full), the events are dropped and counted, so that
/// samples and totals survive. Throws Error if even these cannot be written (disk full, directory not writable).
void write_rank_file(const std::filesystem::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                     const event::PassRecord& record);

}  // namespace kymo::store

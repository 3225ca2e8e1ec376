// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::store {

/// Writes what one pass of one rank observed, as a database of the same tables, in one transaction; the file appears
/// complete or not at all. If it cannot be written whole (disk full), the events are left out and counted as a loss, so
/// that samples and totals survive. Throws Error if not even that can be written (disk full, unwritable folder).
void write_rank_file(const std::filesystem::path& file, std::int64_t run_id, int rank, measure::Pass pass,
                     const event::PassRecord& record);

}  // namespace kymo::store

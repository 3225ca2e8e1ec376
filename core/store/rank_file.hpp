// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "event/records.hpp"
#include "measure/plan.hpp"

namespace kymo::store {

/// Writes what one pass of one rank observed, as a database of the same tables, in one transaction; the file appears complete or not at
/// all. Throws Error (disk full, unwritable folder).
void write_rank_file(const std::filesystem::path& file, std::int64_t run_id, int rank, measure::Pass pass, const event::PassRecord& record);

}  // namespace kymo::store

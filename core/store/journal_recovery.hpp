// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "measure/plan.hpp"

/// What the journals of killed processes contain (step_journal.hpp).
namespace kymo::store {

/// Where journals of the runs of a database are kept if they are damaged.
std::filesystem::path damaged_journals_of(const std::filesystem::path& database);

/// Writes the rank file from the journal of a process that ended before it could, if there is a journal: its samples,
/// metrics, compilations and events, and the warning `fewer steps`. Everything before the first damage of a file is
/// kept; then dropped records name the damage, and the journal is moved into `damaged_journals` instead of removed.
/// Returns the number of measured steps, or nullopt if there was nothing to do. Throws Error if the journal cannot be
/// read or the rank file cannot be written.
std::optional<std::int64_t> recover_from_journal(const std::filesystem::path& rank_file, std::int64_t run_id, int rank,
                                                 measure::Pass pass, const std::filesystem::path& damaged_journals);

/// The same for each journal in a folder of rank files. A journal for which that throws is moved, too, with a warning.
void recover_journals(const std::filesystem::path& folder, const std::filesystem::path& damaged_journals);

/// The detail of warning `fewer steps`.
std::string fewer_steps_text(std::int64_t measured, std::int64_t wanted);

}  // namespace kymo::store

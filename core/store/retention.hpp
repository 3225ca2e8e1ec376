// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/copy_rows.hpp"
#include "store/rank_import.hpp"
#include "store/results.hpp"

/// Implements `--keep`. Events that are not retained are never copied, because deleting them would not shrink the file.
namespace kymo::store {

/// The retained parts of a run's rank files.
struct Retention {
  Keep keep = Keep::kAll;
  std::map<std::string, std::int64_t>
      steps;  ///< by pass, for kOneStep; a pass without a measured step is not listed and is retained completely
};

/// For kOneStep: selects in each pass the step whose time is nearest to the median of its measured steps; the time of a
/// step is that of its slowest rank. Unreadable files are ignored.
Retention choose_retention(Keep keep, std::int64_t run_id, const std::vector<std::filesystem::path>& rank_files);

/// Returns an SQL condition for the retained rows of a rank file's table; empty if all are retained, nullopt if the
/// table is not copied at all.
std::optional<std::string> retained_rows(const Retention& retention, const Connection& source,
                                         const RankFileName& whose, const Table& table);

/// Deletes the rows that were only needed to derive summaries, if only summaries are retained.
void drop_summarized_events(const Connection& results, std::int64_t run_id, Keep keep);

}  // namespace kymo::store

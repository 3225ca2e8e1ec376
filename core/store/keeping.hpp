// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/adoption.hpp"
#include "store/results.hpp"
#include "store/tables.hpp"

/// What `--keep` leaves of a run. Events that are not kept are never copied: deleting them would leave the file at its
/// greatest size.
namespace kymo::store {

/// What is kept of the rank files of one run.
struct Keeping {
  Keep keep = Keep::kAll;
  std::map<std::string, std::int64_t>
      steps;  ///< by pass, for kOneStep; a pass without a measured step is not in it and keeps everything
};

/// For kOneStep: of each pass the step whose time is nearest the median of its measured steps, a step being as long as
/// on its slowest rank. Files that cannot be read have no say.
Keeping choose_keeping(Keep keep, std::int64_t run_id, const std::vector<std::filesystem::path>& rank_files);

/// The rows of a table of a rank file that are kept, as a condition in SQL that is empty for all; nothing if it is not
/// to be copied at all.
std::optional<std::string> kept_rows(const Keeping& keeping, const Connection& source, const RankFileName& whose,
                                     const ObservedTable& table);

/// Deletes what only the summaries were made of, if those are all that is kept.
void drop_what_is_summarized(const Connection& results, std::int64_t run_id, Keep keep);

}  // namespace kymo::store

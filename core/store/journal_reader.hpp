// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "event/records.hpp"
#include "store/journal_scan.hpp"
#include "store/step_journal.hpp"

namespace kymo::store {

/// What a journal contains, up to the first damage of each of its files. Its events refer only to what is there.
struct JournalContent {
  JournalHeader header;
  event::PassRecord record;
  bool events_left_out = false;  ///< beyond 1 GiB
  /// One sentence for each damaged file, which says where it is damaged.
  std::vector<std::string> damage;
};

/// Throws Error if a file cannot be read. The memory is proportional to the size of the files.
JournalContent read_journal(const std::filesystem::path& file);

}  // namespace kymo::store

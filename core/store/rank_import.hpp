// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/copy_rows.hpp"
#include "store/sqlite.hpp"

/// Imports rank files into the results database, in the caller's transaction.
namespace kymo::store {

/// Contents of a rank file's name: RUN-<run>-<rank>-<pass>.kymo.
struct RankFileName {
  std::int64_t run_id = 0;
  int rank = 0;
  std::string pass;
};
struct Retention;
std::optional<RankFileName> parse_rank_file_name(const std::filesystem::path& file);

/// Dropped-record detail for rows that refer to missing strings.
inline constexpr const char* kUnknownTexts =
    "rows that refer to names or devices missing from the file; rows that require one were skipped";

/// Adds a row to table dropped_record after those of the same run, rank and pass.
void add_dropped_records(const Connection& results, std::int64_t run_id, int rank, const std::string& pass,
                         const std::string& source, std::int64_t count, const std::string& detail);

/// Copies the rows to retain of each file that belongs to this run. A file that is missing, damaged or of another run
/// is recorded as a DroppedRecords entry. Rows are read through a separate connection, because a transaction can attach
/// at most ten files and cannot detach any.
void import_rank_files(const Connection& results, std::int64_t run_id, const std::vector<std::filesystem::path>& files,
                       const Retention& retention);

/// Copies the strings of `source` and their properties into `results` and returns the mapping of their ids. If `newer`,
/// the properties replace existing ones.
IdMap import_texts(const Connection& results, const Connection& source, bool newer);

/// Stores a device unless its UUID already exists, and returns its id in `results`. `source_id` is its id in `source`.
std::int64_t import_device(const Connection& results, const Connection& source, std::int64_t source_id);

}  // namespace kymo::store

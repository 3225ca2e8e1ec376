// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite.hpp"
#include "store/tables.hpp"

/// Bringing rank files into the results database, within the caller's transaction.
namespace kymo::store {

/// What a rank file's name says: RUN-<run>-<rank>-<pass>.kymo.
struct RankFileName {
  std::int64_t run_id = 0;
  int rank = 0;
  std::string pass;
};
struct Keeping;
std::optional<RankFileName> parse_rank_file_name(const std::filesystem::path& file);

/// What a loss says of rows whose texts are missing.
inline constexpr const char* kUnknownTexts =
    "rows that refer to names or devices which the file does not hold; those that need one were left out";

/// Adds a row to table loss after those of the same run, rank and pass.
void add_loss(const Connection& results, std::int64_t run_id, int rank, const std::string& pass,
              const std::string& source, std::int64_t count, const std::string& detail);

/// Copies the rows of each file that belong to this run and are to be kept; a file that is missing, damaged or another
/// run's becomes a loss. Rows are read through a connection of their own: a transaction cannot hold more than ten
/// attached files, nor let one go.
void adopt_rank_files(const Connection& results, std::int64_t run_id, const std::vector<std::filesystem::path>& files,
                      const Keeping& keeping);

/// Brings the texts of `source` and what is said of them into `results`; returns what their numbers became. What is
/// said of a text that was there already is replaced if `newer`.
IdMap adopt_texts(const Connection& results, const Connection& source, bool newer);

/// Stores a device unless its uuid is known; returns its id in `results`. `source_id` is its id in `source`.
std::int64_t adopt_device(const Connection& results, const Connection& source, std::int64_t source_id);

}  // namespace kymo::store

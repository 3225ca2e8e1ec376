// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "store/results.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite.hpp"

/// Opening database files that others may have made, damaged or prepared.
///
/// Before any statement runs, the header is read through SQLite's own descriptor: a file that is not ours is refused
/// before SQLite could as much as roll back a journal. `PRAGMA quick_check` follows for files up to a bound (it reads
/// at about 300 MB/s): 64 MiB before writing, 8 MiB before reading, so that a reader starts at once. In larger files
/// damage shows as an error of the statement that meets it. Everything but the temporary tables of this connection
/// stays untouched in kReadOnly, with one exception: a journal that a killed writer left is rolled back, as the file
/// cannot be read before that.
namespace kymo::store {

inline constexpr std::int64_t kCheckedBytesForWriting = 64 << 20;
inline constexpr std::int64_t kCheckedBytesForReading = 8 << 20;

/// Opens or makes a results database. Throws Error as ResultsDatabase says.
std::unique_ptr<Connection> open_results(const std::filesystem::path& file, ResultsDatabase::Mode mode,
                                         const Schema& schema);

/// Opens a rank file read-only, checked; throws Error if it is missing, damaged or no rank file of a schema that this
/// tool knows.
std::unique_ptr<Connection> open_rank_file(const std::filesystem::path& file, const Schema& schema);

}  // namespace kymo::store

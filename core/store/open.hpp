// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "store/results.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite.hpp"

/// Opens database files that other programs may have created, damaged or manipulated.
///
/// Before any statement runs, the header is read through SQLite's own file descriptor, so that a foreign file is
/// rejected before SQLite could roll back a journal. Then the statements of the schema are compared with those of the
/// migrations, before anything that they contain is evaluated (store/structure.hpp). `PRAGMA quick_check` follows for
/// files up to a size limit (it reads about 300 MB/s): 64 MiB before writing, 8 MiB before reading, so that a reader
/// starts quickly. In larger files, damage shows as an error of the statement that encounters it. In kReadOnly, nothing
/// except the temporary tables of this connection is modified, with one exception: the journal of a killed writer is
/// rolled back, because the file cannot be read otherwise (store/rollback.hpp).
namespace kymo::store {

inline constexpr std::int64_t kCheckedBytesForWriting = 64 << 20;
inline constexpr std::int64_t kCheckedBytesForReading = 8 << 20;

/// True if a file begins like an SQLite database, of kymo or not. False if it cannot be read.
bool is_database(const std::filesystem::path& file);

/// Opens or creates a results database. Throws Error as documented at ResultsDatabase.
std::unique_ptr<Connection> open_results(const std::filesystem::path& file, ResultsDatabase::Mode mode,
                                         const Schema& schema);

/// Opens a rank file read-only and checks it; one of an earlier version is migrated in a private copy. Throws Error if
/// it is missing, damaged or not a rank file of a known schema.
std::unique_ptr<Connection> open_rank_file(const std::filesystem::path& file, const Schema& schema);

}  // namespace kymo::store

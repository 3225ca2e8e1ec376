// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "store/results.hpp"
#include "store/sqlite.hpp"

namespace kymo::store {

struct ResultsDatabase::Impl {
  std::filesystem::path file;
  std::unique_ptr<Connection> connection;
  bool read_only = false;
};

/// The connection for a function that stores something; throws Error if the database was opened for reading.
const Connection& writable(const std::filesystem::path& file, const Connection& connection, bool read_only);

/// Closes a run within the caller's transaction; what it held is replaced.
void close_run(const Connection& results, std::int64_t run_id, const RunEnd& end, const std::vector<WorkerRow>& workers,
               const std::vector<std::filesystem::path>& rank_files, Keep keep = Keep::kAll);

}  // namespace kymo::store

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/results.hpp"
#include "store/sqlite.hpp"
#include "store/writer_lock.hpp"

namespace kymo::store {

struct ResultsDatabase::Impl {
  std::filesystem::path file;
  std::unique_ptr<WriterLock> lock;  // outlives the connection
  std::unique_ptr<Connection> connection;
  bool read_only = false;
  Limits limits;
  std::vector<std::string> undo_temporary;  ///< statements that undo TemporaryChanges
};

/// Returns the connection for writing. Throws Error if the database was opened for reading.
const Connection& writable(const std::filesystem::path& file, const Connection& connection, bool read_only);

/// Finalizes a run in the caller's transaction and replaces its previous contents.
void close_run(const Connection& results, std::int64_t run_id, const measure::Outcome& outcome,
               const std::vector<WorkerRow>& workers, const std::vector<std::filesystem::path>& rank_files,
               Keep keep = Keep::kAll);

}  // namespace kymo::store

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_mapping.hpp"

namespace kymo::measure {

/// Snapshot of a worker's status.
struct WorkerStatus {
  std::int64_t step = -1;
  std::string phase;  ///< empty outside of phases
  std::int64_t collectives_begun = 0;
  std::int64_t collectives_ended = 0;  ///< number of those calls that have returned or whose work is complete
};

/// Returns the status page file of the worker that writes `rank_file`.
std::filesystem::path status_file(const std::filesystem::path& rank_file);

/// A worker's status page: a memory-mapped file that the supervisor can read even if the worker hangs or has died. Any
/// thread; each update is a relaxed store or increment.
class StatusPage {
 public:
  /// Creates the file. Phase names are truncated and their number is limited to the size of the page. Throws Error if
  /// the file cannot be created.
  StatusPage(const std::filesystem::path& file, const std::vector<std::string>& phases);
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  void set_step(std::int64_t step) noexcept;
  /// Index into the phases, or -1.
  void set_phase(int phase) noexcept;
  /// Where set_step() and set_phase() store their arguments, for C code that stores them atomically.
  std::int64_t* shown_step() noexcept;
  std::int32_t* shown_phase() noexcept;
  void begin_collective() noexcept;
  void end_collective() noexcept;

  /// Reads a status page. Returns nullopt if the file does not exist or is not a status page.
  static std::optional<WorkerStatus> read(const std::filesystem::path& file) noexcept;

 private:
  struct Page;
  FileMapping mapping_;
  Page* page_;
};

}  // namespace kymo::measure

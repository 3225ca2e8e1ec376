// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_mapping.hpp"

namespace kymo::measure {

/// A collective call that a worker has begun.
struct BegunCollective {
  std::int64_t number = 0;    ///< among all calls of the worker, from 1
  std::string operation;      ///< as in table collective
  std::string communicator;   ///< empty if the workload has only one
  std::int64_t sequence = 0;  ///< index in its communicator, identical on all ranks
  std::int64_t bytes = 0;     ///< payload size on this rank
};

/// Snapshot of a worker's status.
struct WorkerStatus {
  std::int64_t step = -1;
  std::string phase;  ///< empty outside of phases
  std::int64_t collectives_begun = 0;
  std::int64_t collectives_ended = 0;  ///< number of those calls that have returned or whose work is complete
  /// The latest calls, at most StatusPage::kLastCollectives, in their order. Calls without a known sequence are
  /// missing.
  std::vector<BegunCollective> last_collectives = {};
};

/// Returns the status page file of the worker that writes `rank_file`.
std::filesystem::path status_file(const std::filesystem::path& rank_file);

/// A worker's status page: a memory-mapped file that the supervisor can read even if the worker hangs or has died. Any
/// thread; each update is a relaxed store or increment.
class StatusPage {
 public:
  static constexpr std::size_t kLastCollectives = 16;

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
  /// `operation`: nullptr if the call's operation or sequence is unknown. Names are truncated.
  void begin_collective(const char* operation, const char* communicator, std::int64_t sequence,
                        std::int64_t bytes) noexcept;
  void end_collective() noexcept;

  /// Reads a status page. Returns nullopt if the file does not exist or is not a status page.
  static std::optional<WorkerStatus> read(const std::filesystem::path& file) noexcept;

 private:
  struct Page;
  FileMapping mapping_;
  Page* page_;
};

}  // namespace kymo::measure

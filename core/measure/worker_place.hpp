// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kymo::measure {

/// Where a worker stood when it was looked at.
struct Standing {
  std::int64_t step = -1;
  std::string phase;  ///< empty outside of phases
  std::int64_t collectives_begun = 0;
  std::int64_t collectives_ended = 0;  ///< of those, the calls that came back or whose work was done
};

/// The file by which the worker that writes a rank file shows where it stands.
std::filesystem::path place_file(const std::filesystem::path& rank_file);

/// Where a worker stands, in a page of a file that its supervisor can read: also when the worker hangs or is dead. Any
/// thread; each function is a relaxed store or an increment.
class WorkerPlace {
 public:
  /// Makes the file; names are cut and numbered as the page has room for. Throws Error if it cannot be made.
  WorkerPlace(const std::filesystem::path& file, const std::vector<std::string>& phases);
  ~WorkerPlace();
  WorkerPlace(const WorkerPlace&) = delete;
  WorkerPlace& operator=(const WorkerPlace&) = delete;

  void set_step(std::int64_t step) noexcept;
  /// Index into the phases, or -1.
  void set_phase(int phase) noexcept;
  void begin_collective() noexcept;
  void end_collective() noexcept;

  /// What the file says; nullopt if there is none or it is none of ours.
  static std::optional<Standing> read(const std::filesystem::path& file) noexcept;

 private:
  struct Page;
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  Page* page_;
};

}  // namespace kymo::measure

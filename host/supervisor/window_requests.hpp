// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_mapping.hpp"
#include "event/window_page.h"

namespace kymo::supervisor {

/// Windows of a running program that other processes request. Ranks begin them at the same step, on which they agree
/// through a file that all of them map (event/window_page.h).
class WindowRequests {
 public:
  /// Creates the file. `database`: absolute path of the database for the results. Throws Error.
  WindowRequests(const std::filesystem::path& file, const std::filesystem::path& database);
  /// Opens the file of another kymo. Throws Error.
  explicit WindowRequests(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }

  // The kymo that observes the program.

  /// Number of steps of the window that is requested and has not ended.
  std::optional<std::int64_t> requested() const;
  /// Proposes a step to the processes of the program that make steps, unless they are about to accept one.
  void propose();
  /// The step with which the window begins, once one of them has begun it.
  std::int64_t agreed_step() const { return kymo_proposed_step(proposal()); }
  /// The window has ended. `run`: its results; 0: there are none.
  void answer(std::int64_t run);

  // Another process, which requests a window.

  /// False if another window is requested.
  bool request(std::int64_t steps);
  /// Whether the window that was requested has not ended.
  bool is_pending() const { return requested().has_value(); }
  /// The run of the last window that has ended; 0: the program has ended without one.
  std::int64_t run() const;
  pid_t supervisor() const;
  std::filesystem::path database() const;

 private:
  std::uint64_t proposal() const;

  std::filesystem::path file_;
  FileMapping mapping_;
  kymo_window_page* page_ = nullptr;
  bool is_proposed_ = false;  // to those who are to begin the requested window
  std::int64_t margin_ = 0;   // steps between the furthest process and the proposed step
};

/// A program whose windows can be requested.
struct WaitingProgram {
  pid_t supervisor = -1;
  std::filesystem::path requests;  ///< file of its WindowRequests
};

/// The programs of this user that wait for requests. `process`: those that this process belongs to, of the program or
/// the kymo that observes it; empty: all.
std::vector<WaitingProgram> find_waiting_programs(std::optional<pid_t> process);

}  // namespace kymo::supervisor

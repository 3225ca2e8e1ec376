// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <kymo/communicator.hpp>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace kymo::comm {

using Clock = std::chrono::steady_clock;

/// Sleeps a little longer each time, from 1 ms to 50 ms.
class Pause {
 public:
  /// Throws std::runtime_error with `what` when the run is cancelled.
  void sleep(const Context& ctx, const char* what);

 private:
  std::chrono::milliseconds length_{1};
};

/// All ranks have met, and share a store of their own.
struct Meeting {
  c10::intrusive_ptr<c10d::Store> store;
  std::string name;         ///< of the communicator; a second one of the same name is "name#2"
  std::string own_address;  ///< of this machine, as the others reach it
  Clock::time_point end;    ///< when the deadline passes
};

/// Waits for all ranks. Throws std::runtime_error that names those that are missing at the deadline, and when the run
/// is cancelled; std::invalid_argument if the ranks do not agree on the backend.
Meeting meet(const Context& ctx, Backend backend, const Options& options);

/// Whether all `ranks` ranks call this within `patience` of the first; every one of them gets the same answer. Called
/// once by each. A store that cannot be reached is a no.
bool part_together(const Meeting& meeting, int ranks, std::chrono::milliseconds patience) noexcept;

}  // namespace kymo::comm

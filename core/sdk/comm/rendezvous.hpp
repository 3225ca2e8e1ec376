// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <kymo/communicator.hpp>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

namespace kymo::comm {

using Clock = std::chrono::steady_clock;

/// Polling interval that doubles from 1 ms to 50 ms.
class Backoff {
 public:
  /// Throws std::runtime_error that names `what` if the run is cancelled.
  void sleep(const Context& ctx, const char* what);

 private:
  std::chrono::milliseconds length_{1};
};

/// Result of a completed rendezvous of all ranks.
struct JoinedRendezvous {
  c10::intrusive_ptr<c10d::Store> store;
  std::string name;         ///< communicator name; the second communicator of the same name is "name#2"
  std::string own_address;  ///< address at which other ranks reach this host
  Clock::time_point end;    ///< deadline of the rendezvous
};

/// Waits for all ranks. Throws std::runtime_error that lists the missing ranks when the deadline passes, or if the run
/// is cancelled. Throws std::invalid_argument if the ranks use different backends.
JoinedRendezvous join_rendezvous(const Context& ctx, Backend backend, const Options& options);

/// Coordinated shutdown: returns true if all `ranks` ranks call this function within `timeout` of the first. All ranks
/// get the same answer. Call it once per rank. Returns false if the store cannot be reached.
bool coordinated_shutdown(const JoinedRendezvous& rendezvous, int ranks, std::chrono::milliseconds timeout) noexcept;

}  // namespace kymo::comm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "event/records.hpp"

namespace kymo::worker {

/// Keeps the collective calls of an observed pass, on whatever threads they are begun and ended. Next to what such a
/// call costs, its lock is short; nothing is allocated under it but room for further calls.
class CollectiveRecorder {
 public:
  /// At most `most` calls are kept, some 200 bytes each.
  explicit CollectiveRecorder(std::int64_t run_start_ns, std::size_t most = 500'000);
  CollectiveRecorder(const CollectiveRecorder&) = delete;
  CollectiveRecorder& operator=(const CollectiveRecorder&) = delete;

  /// The call's handle: never one that another recorder gave. 0 if the call is not kept; ending that changes nothing. A
  /// struct that is shorter than today's lacks its last fields: calls without a sequence are counted here. `call` may
  /// be nullptr, which counts as a loss.
  std::uint64_t begin(const kymo_collective* call);
  /// A handle that is unknown, or was ended before, counts as a loss.
  void end(std::uint64_t handle) noexcept;

  /// Moves the calls into the record, in the order in which they began, and what did not fit or made no sense into its
  /// losses. Nothing is recorded afterwards.
  void collect(event::PassRecord& record);

 private:
  static constexpr int kPlaceBits = 32;

  std::uint64_t handle_of(std::size_t place) const { return generation_ << kPlaceBits | (place + 1); }
  /// nullptr if no call of this recorder has that handle.
  event::Collective* find(std::uint64_t handle);
  std::int64_t count_call(event::TextId communicator);

  const std::int64_t run_start_ns_;
  const std::size_t most_;
  const std::uint64_t generation_;

  std::mutex mutex_;  // for all below
  bool collected_ = false;
  event::Texts communicators_;             // the calls refer to these until collect()
  std::vector<std::int64_t> next_number_;  // by communicator, of calls that are counted here
  std::deque<event::Collective> calls_;    // grows without moving what it holds
  std::int64_t lost_ = 0;
  std::int64_t senseless_ = 0;
  std::int64_t unmatched_ = 0;
};

}  // namespace kymo::worker

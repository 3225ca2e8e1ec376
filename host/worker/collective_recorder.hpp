// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "event/records.hpp"

namespace kymo::worker {

/// Records the collective calls of an observed pass, begun and ended on any thread. The lock is held briefly compared
/// with the cost of a collective; the only allocation under it is growth of the storage.
class CollectiveRecorder {
 public:
  /// Keeps at most `most` calls, about 200 bytes each.
  explicit CollectiveRecorder(std::int64_t run_start_ns, std::size_t most = 500'000);
  CollectiveRecorder(const CollectiveRecorder&) = delete;
  CollectiveRecorder& operator=(const CollectiveRecorder&) = delete;

  /// Returns the handle of the call, unique among all recorders, or 0 if the call is not kept; end() ignores 0. A
  /// struct shorter than the current one lacks its last fields; calls without a sequence number are numbered here.
  /// `call` may be nullptr, which counts as a dropped record.
  std::uint64_t begin(const kymo_collective* call);
  /// An unknown handle, or one that has already ended, counts as a dropped record.
  void end(std::uint64_t handle) noexcept;
  /// The first report of a call counts; one of an unknown handle is ignored, because its call was not kept.
  void needed(std::uint64_t handle, const char* by);

  /// Moves the calls into the record, in the order in which they began, together with the counts of dropped records.
  /// Nothing is recorded afterwards.
  void collect(event::PassRecord& record);

 private:
  static constexpr int kIndexBits = 32;

  struct Report {
    event::Collective call;
    bool is_library_calls = false;  ///< no call itself, see KYMO_LIBRARY_CALLS
  };

  std::uint64_t handle_of(std::size_t index) const { return generation_ << kIndexBits | (index + 1); }
  /// nullptr if no call of this recorder has that handle.
  Report* find(std::uint64_t handle);
  std::int64_t count_call(event::TextId communicator);

  const std::int64_t run_start_ns_;
  const std::size_t max_;
  const std::uint64_t generation_;

  std::mutex mutex_;  // protects all members below
  bool collected_ = false;
  event::Texts communicators_;             // the calls refer to these and to names_ until collect()
  std::vector<std::int64_t> next_number_;  // per communicator, for calls numbered here
  event::Texts names_;                     // of what needs results
  std::deque<Report> calls_;               // grows without moving its elements
  std::int64_t dropped_ = 0;
  std::int64_t invalid_ = 0;
  std::int64_t unmatched_ = 0;
};

}  // namespace kymo::worker

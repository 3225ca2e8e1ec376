// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "collect/cuda/activity_parser.hpp"
#include "event/records.hpp"

namespace kymo::collect {

/// The activity records of a session as they are delivered, before the session ends. Thread-safe.
class NewActivities {
 public:
  NewActivities() : parser_(ClockConversion(), 0, trace_) {}

  /// Reads the records of a buffer on the thread on which CUPTI delivers it, so that the program's threads need not.
  void read(std::uint8_t* buffer, std::size_t valid_bytes);
  /// Adds the records since the last call. Always pass the same object, whose shapes are only those of this one.
  /// `clock` converts CUPTI's times to those of the host, to which `run_start_ns` refers.
  void add_new(event::NewEvents& events, const ClockConversion& clock, std::int64_t run_start_ns);

 private:
  std::mutex mutex_;  // guards the following members
  event::Trace trace_;
  ActivityParser parser_;  // of times as CUPTI states them
  event::TranslatedTexts texts_;
  std::size_t shapes_ = 0;  // number of the shapes that were added
};

}  // namespace kymo::collect

// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/new_activities.hpp"

#include <utility>

#include "base/ranges.hpp"

namespace kymo::collect {

void NewActivities::read(std::uint8_t* buffer, std::size_t valid_bytes) {
  const std::lock_guard lock(mutex_);
  parser_.parse(buffer, valid_bytes);
}

void NewActivities::add_new(event::NewEvents& events, const ClockConversion& clock, std::int64_t run_start_ns) {
  const auto move_all = [&](auto& from, auto& to) {
    for (auto& event : from) {
      event.start_ns = clock.host_ns(static_cast<std::uint64_t>(event.start_ns)) - run_start_ns;
      event.end_ns = clock.host_ns(static_cast<std::uint64_t>(event.end_ns)) - run_start_ns;
      if constexpr (requires { event.name; }) event.name = texts_.id(event.name, trace_.texts, events.texts);
      to.push_back(std::move(event));
    }
    from.clear();
  };
  const std::lock_guard lock(mutex_);
  append_new(events.shapes, trace_.shapes, shapes_);
  move_all(trace_.activities, events.activities);
  move_all(trace_.api_calls, events.api_calls);
  move_all(trace_.synchronizations, events.synchronizations);
  move_all(trace_.overhead_records, events.overhead_records);
}

}  // namespace kymo::collect

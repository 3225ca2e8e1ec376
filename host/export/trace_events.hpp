// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "export/output.hpp"

/// The trace event format of Perfetto and chrome://tracing: a JSON object with a list of events, here one per line.
namespace kymo::exports {

/// The text as a quoted JSON string; invalid UTF-8 is replaced.
std::string json_string(std::string_view text);

/// Formats nanoseconds as microseconds, the unit of the format, with three decimals: "12.345".
std::string microseconds(std::int64_t ns);

/// A track: a host thread or a device stream.
struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

/// One event. Names and texts are passed as JSON strings, because they repeat in millions of events.
class TraceEvent {
 public:
  /// `phase` is the event type of the format: X for a complete event, C for a counter, s and f for the ends of a flow
  /// arrow, M for metadata of a track.
  TraceEvent(char phase, const Track& track, std::string_view json_name, std::string_view category);
  TraceEvent& at(std::int64_t start_ns);
  /// Sets start and duration; an event that ends before it starts has duration 0.
  TraceEvent& between(std::int64_t start_ns, std::int64_t end_ns);
  /// Adds a member of the event itself, as JSON.
  TraceEvent& member(std::string_view name, std::string_view json);
  /// Adds a member of the event's args.
  TraceEvent& argument(std::string_view name, std::string_view json);
  TraceEvent& argument(std::string_view name, std::int64_t number) {
    return argument(name, std::string_view(std::to_string(number)));
  }

  std::string line() const;

 private:
  std::string text_;
  std::string arguments_;
};

/// Writes the list of events.
class TraceEvents {
 public:
  explicit TraceEvents(Output& output) : output_(output) {}
  /// The members of the object before the list, one per line, the first one as text.
  void begin(const std::string& first, const Json& others);
  void add(const TraceEvent& event);
  void end();

 private:
  Output& output_;
  bool is_first_ = true;
};

/// Events of one track must be nested. Events that only overlap, such as kernels of a graph on one stream, go to
/// additional tracks next to it.
class Lanes {
 public:
  /// The lowest lane of `key`, starting at 0, that is free at that time. Events must be added in order of start time.
  std::size_t lane_for(std::int64_t key, std::int64_t start_ns, std::int64_t end_ns);
  /// Number of lanes used by each key.
  std::map<std::int64_t, std::size_t> counts() const;

 private:
  std::map<std::int64_t, std::vector<std::int64_t>> ends_;
};

}  // namespace kymo::exports

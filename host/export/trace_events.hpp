// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "export/output.hpp"

/// The trace event format that Perfetto and chrome://tracing load: a JSON object with a list of events, one a line
/// here.
namespace kymo::exports {

/// The text as a JSON string, with its quotes; bytes that are no UTF-8 are replaced.
std::string json_string(std::string_view text);

/// Nanoseconds as microseconds with three decimals, which is what the format counts in: "12.345".
std::string microseconds(std::int64_t ns);

/// A row on the screen: a thread of the host, a stream of the device.
struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

/// One event. Names and texts given to it are JSON strings already: they repeat in millions of events.
class TraceEvent {
 public:
  /// `phase` is the format's letter: X for a stretch, C for a counter, s and f for the ends of an arrow, M for facts of
  /// a track.
  TraceEvent(char phase, const Track& track, std::string_view json_name, std::string_view category);
  TraceEvent& at(std::int64_t start_ns);
  /// A stretch from start to end; one that ends before it starts lasts 0.
  TraceEvent& between(std::int64_t start_ns, std::int64_t end_ns);
  /// A member of the event itself, as JSON.
  TraceEvent& member(std::string_view name, std::string_view json);
  /// A member of its args.
  TraceEvent& argument(std::string_view name, std::string_view json);
  TraceEvent& argument(std::string_view name, std::int64_t number) {
    return argument(name, std::string_view(std::to_string(number)));
  }

  std::string line() const;

 private:
  std::string text_;
  std::string arguments_;
};

/// Writes the list.
class TraceEvents {
 public:
  explicit TraceEvents(Output& output) : output_(output) {}
  /// `members` are those of the object before the list, as JSON, by lines.
  void begin(const std::vector<std::string>& members);
  void add(const TraceEvent& event);
  void end();

 private:
  Output& output_;
  bool is_first_ = true;
};

/// Stretches of one track must nest. Those that only overlap, as kernels of a graph may on one stream, go to further
/// tracks beside it.
class Lanes {
 public:
  /// The lowest lane of `key` that is free at that time, from 0 on. Stretches must come in order of starting.
  std::size_t lane_for(std::int64_t key, std::int64_t start_ns, std::int64_t end_ns);
  /// How many lanes each key has needed.
  std::map<std::int64_t, std::size_t> counts() const;

 private:
  std::map<std::int64_t, std::vector<std::int64_t>> ends_;
};

}  // namespace kymo::exports

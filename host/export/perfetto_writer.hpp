// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/pages.hpp"
#include "export/trace_events.hpp"

namespace kymo::exports {

/// An event with a NULL end never ended.
inline std::int64_t end_of(const Row& row, std::size_t start, std::size_t end) {
  return row.has(end) ? row.integer(end) : row.integer(start);
}

/// Writes the events of one rank and pass, table by table.
class PerfettoWriter {
 public:
  PerfettoWriter(const store::ResultsDatabase& database, const Target& target, Output& output);
  /// Returns notes for readers of the trace.
  std::vector<std::string> write();

 private:
  struct KernelKind {
    std::string short_name;
    std::string kernel_class;
  };

  void write_head();
  // Host (perfetto_host.cpp)
  void write_steps();
  void write_ranges();
  void write_operators();
  void write_calls();
  void write_waits();
  void write_overhead_records();
  // Host and device (perfetto_collectives.cpp)
  void write_collectives();
  void write_collective(const Row& row, const Track& track);
  // Device (perfetto_device.cpp)
  void read_kernel_classes();
  void read_shapes();
  void read_stacks();
  void write_activities();
  void write_activity(const Row& row);
  void add_kernel_arguments(TraceEvent& event, const Row& row);
  void write_counters();
  // Rates over time (perfetto_rates.cpp)
  /// Work per second of the operators with known work.
  void write_rates();
  void write_utilization();
  // Track names, written after all tracks are known
  void name_track(const Track& track, const std::string& name, std::int64_t order);
  void name_process(std::int64_t process, const std::string& name, std::int64_t order);
  void name_tracks();

  /// A text referenced by events, as a JSON string.
  const std::string& name(std::int64_t id);
  void add_position(TraceEvent& event, const Row& row, std::size_t step, std::size_t phase, std::size_t scope);
  Track host(std::int64_t thread) const { return {host_process_, thread}; }
  void add_stack(TraceEvent& event, const Row& row, std::size_t column) const;
  bool has_rows(const std::string& table) const;

  const store::ResultsDatabase& database_;
  Target target_;
  TraceEvents events_;
  TextsById texts_;
  std::unordered_map<std::int64_t, std::string> names_;
  std::unordered_map<std::int64_t, KernelKind> kernel_kinds_;
  std::unordered_map<std::int64_t, std::string> shapes_;  ///< arguments as JSON members
  std::unordered_map<std::int64_t, std::string> stacks_;  ///< Python stacks as JSON strings
  std::vector<std::int64_t> launches_;                    ///< correlation ids of the recorded API calls, sorted
  std::map<std::int64_t, std::string> host_tracks_;
  std::int64_t host_process_ = 1;
  std::int64_t last_ns_ = 0;  ///< end of the last written event
  std::int64_t last_step_ = -1;
  bool has_calls_ = false;
  Lanes streams_;
};

}  // namespace kymo::exports

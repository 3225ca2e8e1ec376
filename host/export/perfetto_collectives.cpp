// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "export/perfetto_writer.hpp"

namespace kymo::exports {

namespace {

// Sorted after the tracks of overhead records. Additional lanes of a communicator are placed far after its first lane,
// and all of them before the tracks of API calls.
constexpr std::int64_t kFirstTrack = 1'200'000'000;
constexpr std::int64_t kLaneDistance = 100'000;
constexpr std::int64_t kMaxLanes = 7'000;

enum Column : std::size_t {
  kCommunicator,
  kNumber,
  kOperation,
  kBytes,
  kOnDevice,
  kEnqueue,
  kReturned,
  kStart,
  kEnd,
  kKernels,
  kStep,
  kPhase,
  kScope
};
constexpr const char* kColumns =
    "communicator_id, call_number, operation, bytes, on_device, enqueue_ns, returned_ns, start_ns, end_ns, kernels, "
    "step, "
    "phase_id, scope_id";

/// The interval in which the rank executed the collective or, if that was not recorded, in which it was called.
std::pair<std::int64_t, std::int64_t> span_of(const Row& row) {
  if (row.has(kStart) && row.has(kEnd)) return {row.integer(kStart), row.integer(kEnd)};
  return {row.integer(kEnqueue), end_of(row, kEnqueue, kReturned)};
}

}  // namespace

void PerfettoWriter::write_collectives() {
  // Sorted by start time, as required by the lanes; the order on the device may differ from the order of the calls.
  std::vector<std::vector<store::ResultsDatabase::Cell>> calls;
  Pages pages(database_, target_, "collective", kColumns);
  while (const auto row = pages.next()) calls.push_back(row->cells());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return span_of(Row(a)).first < span_of(Row(b)).first; });
  std::map<std::int64_t, std::int64_t> tracks;  // by communicator
  Lanes lanes;
  for (const auto& cells : calls) {
    const Row row(cells);
    const auto [start_ns, end_ns] = span_of(row);
    const std::int64_t communicator = row.integer(kCommunicator);
    const auto order = static_cast<std::int64_t>(tracks.size()) % kLaneDistance;
    const std::int64_t first = tracks.try_emplace(communicator, kFirstTrack + order).first->second;
    const auto lane = static_cast<std::int64_t>(lanes.lane_for(communicator, start_ns, end_ns));
    const std::int64_t track = first + std::min(lane, kMaxLanes) * kLaneDistance;
    write_collective(row, host(track));
    host_tracks_.try_emplace(track, "collectives of " + texts_.text(communicator) + (lane > 0 ? " (overlapping)" : ""));
  }
}

void PerfettoWriter::write_collective(const Row& row, const Track& track) {
  const auto [start_ns, end_ns] = span_of(row);
  TraceEvent event('X', track, json_string(row.text(kOperation)), "collective");
  event.between(start_ns, end_ns)
      .argument("communicator", name(row.integer(kCommunicator)))
      .argument("call_number", row.integer(kNumber));
  event.argument("bytes", row.integer(kBytes)).argument("called at us", microseconds(row.integer(kEnqueue)));
  add_position(event, row, kStep, kPhase, kScope);
  if (row.integer(kOnDevice) != 0) event.argument("kernels", row.integer(kKernels));
  if (row.integer(kOnDevice) != 0 && !row.has(kStart)) event.argument("not seen on the device", 1);
  if (!row.has(kReturned)) event.argument("never ended", 1);
  events_.add(event);
  last_ns_ = std::max(last_ns_, end_ns);
}

}  // namespace kymo::exports

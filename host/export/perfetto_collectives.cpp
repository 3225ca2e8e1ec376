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
constexpr std::int64_t kLaneStride = 100'000;
constexpr std::int64_t kMaxLanes = 7'000;

struct Call {
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
  static constexpr const char* kColumns =
      "communicator_id, call_number, operation, bytes, on_device, enqueue_ns, returned_ns, start_ns, end_ns, kernels, "
      "step, phase_id, scope_id";
};

/// The interval in which the rank executed the collective or, if that was not recorded, in which it was called.
std::pair<std::int64_t, std::int64_t> span_of(const Row& row) {
  if (row.has(Call::kStart) && row.has(Call::kEnd)) return {row.integer(Call::kStart), row.integer(Call::kEnd)};
  return {row.integer(Call::kEnqueue), end_of(row, Call::kEnqueue, Call::kReturned)};
}

}  // namespace

void PerfettoWriter::write_collectives() {
  // Sorted by start time, as required by the lanes; the order on the device may differ from the order of the calls.
  std::vector<std::vector<store::ResultsDatabase::Cell>> calls;
  Pages pages(database_, target_, "collective", Call::kColumns);
  while (const auto row = pages.next()) calls.push_back(row->cells());
  std::ranges::stable_sort(calls, {}, [](const auto& call) { return span_of(Row(call)).first; });
  std::map<std::int64_t, std::int64_t> tracks;  // by communicator
  Lanes lanes;
  for (const auto& cells : calls) {
    const Row row(cells);
    const auto [start_ns, end_ns] = span_of(row);
    const std::int64_t communicator = row.integer(Call::kCommunicator);
    const auto order = static_cast<std::int64_t>(tracks.size()) % kLaneStride;
    const std::int64_t first = tracks.try_emplace(communicator, kFirstTrack + order).first->second;
    const auto lane = static_cast<std::int64_t>(lanes.lane_for(communicator, start_ns, end_ns));
    const std::int64_t track = first + std::min(lane, kMaxLanes) * kLaneStride;
    write_collective(row, host(track));
    host_tracks_.try_emplace(track, "collectives of " + texts_.text(communicator) + (lane > 0 ? " (overlapping)" : ""));
  }
}

void PerfettoWriter::write_collective(const Row& row, const Track& track) {
  const auto [start_ns, end_ns] = span_of(row);
  TraceEvent event('X', track, json_string(row.text(Call::kOperation)), "collective");
  event.between(start_ns, end_ns)
      .argument("communicator", name(row.integer(Call::kCommunicator)))
      .argument("call_number", row.integer(Call::kNumber));
  event.argument("bytes", row.integer(Call::kBytes))
      .argument("called at us", microseconds(row.integer(Call::kEnqueue)));
  add_position(event, row, Call::kStep, Call::kPhase, Call::kScope);
  if (row.integer(Call::kOnDevice) != 0) event.argument("kernels", row.integer(Call::kKernels));
  if (row.integer(Call::kOnDevice) != 0 && !row.has(Call::kStart)) event.argument("not seen on the device", 1);
  if (!row.has(Call::kReturned)) event.argument("never ended", 1);
  events_.add(event);
  last_ns_ = std::max(last_ns_, end_ns);
}

}  // namespace kymo::exports

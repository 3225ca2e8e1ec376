// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "export/perfetto_writer.hpp"

namespace kymo::exports {

namespace {

// Phases, scopes and operators are each nested, but not necessarily within one another, so each kind gets its own
// tracks.
constexpr std::int64_t kStepTrack = 1;
constexpr std::int64_t kPhaseTrack = 2;
constexpr std::int64_t kFirstThreadTrack = 10;
constexpr std::int64_t kFirstWaitTrack = 1'000'000'000;
constexpr std::int64_t kFirstOverheadTrack = 1'100'000'000;
// Thread ids of the system are added to this value.
constexpr std::int64_t kFirstCallTrack = 2'000'000'000;

std::int64_t scope_track(std::int64_t thread) { return kFirstThreadTrack + 2 * thread; }
std::int64_t operator_track(std::int64_t thread) { return kFirstThreadTrack + 2 * thread + 1; }

}  // namespace

void PerfettoWriter::write_steps() {
  const auto rows = database_
                        .query(
                            "SELECT step, start_ns, start_ns + host_ns, warmup FROM main.sample WHERE run_id = "
                            "CAST(:run AS INTEGER) AND rank = CAST(:rank AS INTEGER) AND pass = :pass AND phase = "
                            "'step' ORDER BY step",
                            target_.parameters())
                        .rows;
  // As soon as there are two ProfilerStep#N events, Holistic Trace Analysis ignores every kernel whose launch is not in
  // the trace. Without CUDA API calls it would ignore all kernels.
  const std::string prefix = has_calls_ ? "ProfilerStep#" : "step ";
  for (const auto& cells : rows) {
    const Row row(cells);
    TraceEvent event('X', host(kStepTrack), json_string(prefix + std::to_string(row.integer(0))), "user_annotation");
    events_.add(event.between(row.integer(1), row.integer(2))
                    .argument("step", row.integer(0))
                    .argument("warmup", row.integer(3)));
    last_step_ = std::max(last_step_, row.integer(0));
    last_ns_ = std::max(last_ns_, row.integer(2));
  }
  if (!rows.empty()) host_tracks_[kStepTrack] = "steps";
}

void PerfettoWriter::write_ranges() {
  Pages pages(database_, target_, "range", "kind, name_id, scope_id, step, phase_id, thread, start_ns, end_ns");
  while (const auto row = pages.next()) {
    const bool is_phase = row->text(0) == "phase";
    const std::int64_t track = is_phase ? kPhaseTrack : scope_track(row->integer(5));
    const std::int64_t end_ns = end_of(*row, 6, 7);
    TraceEvent event('X', host(track), name(row->integer(1)), "user_annotation");
    event.between(row->integer(6), end_ns);
    add_position(event, *row, 3, 4, 2);
    if (!row->has(7)) event.argument("never ended", 1);
    events_.add(event);
    last_ns_ = std::max(last_ns_, end_ns);
    host_tracks_.try_emplace(track, is_phase ? "phases" : "thread " + std::to_string(row->integer(5)) + ": scopes");
  }
}

void PerfettoWriter::write_operators() {
  Pages pages(
      database_, target_, "op",
      "sequence, name_id, shapes_id, backward, start_ns, end_ns, thread, autograd_sequence, step, phase_id, scope_id, "
      "stack");
  while (const auto row = pages.next()) {
    const std::int64_t track = operator_track(row->integer(6));
    const std::int64_t end_ns = end_of(*row, 4, 5);
    TraceEvent event('X', host(track), name(row->integer(1)), "cpu_op");
    event.between(row->integer(4), end_ns).argument("External id", row->integer(0) + 1);
    if (row->has(2)) event.argument("Input Dims", name(row->integer(2)));
    if (row->has(7)) event.argument("Sequence number", row->integer(7));
    event.argument("backward", row->integer(3));
    add_position(event, *row, 8, 9, 10);
    add_stack(event, *row, 11);
    if (!row->has(5)) event.argument("never ended", 1);
    events_.add(event);
    last_ns_ = std::max(last_ns_, end_ns);
    host_tracks_.try_emplace(track, "thread " + std::to_string(row->integer(6)) + ": operators");
  }
}

void PerfettoWriter::write_calls() {
  Pages pages(database_, target_, "api_call", "name_id, start_ns, end_ns, thread, correlation_id");
  while (const auto row = pages.next()) {
    const Track track = host(kFirstCallTrack + row->integer(3));
    const std::int64_t correlation = row->integer(4);
    const std::string& call = name(row->integer(0));
    events_.add(TraceEvent('X', track, call, "cuda_runtime")
                    .between(row->integer(1), row->integer(2))
                    .argument("correlation", correlation));
    last_ns_ = std::max(last_ns_, row->integer(2));
    host_tracks_.try_emplace(track.thread, "CUDA API calls of thread " + std::to_string(row->integer(3)));
    if (call.find("Sync") != std::string::npos) continue;  // launches no work
    events_.add(
        TraceEvent('s', track, "\"ac2g\"", "ac2g").at(row->integer(1)).member("id", std::to_string(correlation)));
    launches_.push_back(correlation);
  }
  std::ranges::sort(launches_);
}

void PerfettoWriter::write_waits() {
  Pages pages(database_, target_, "synchronization", "kind, start_ns, end_ns, stream, correlation_id");
  Lanes lanes;
  while (const auto row = pages.next()) {
    const auto lane = static_cast<std::int64_t>(lanes.lane_for(0, row->integer(1), row->integer(2)));
    TraceEvent event('X', host(kFirstWaitTrack + lane), json_string("wait for " + row->text(0)), "cuda_sync");
    event.between(row->integer(1), row->integer(2)).argument("call", row->integer(4));
    if (row->has(3)) event.argument("waits for stream", row->integer(3));
    events_.add(event);
    host_tracks_.try_emplace(kFirstWaitTrack + lane, "GPU synchronization");
  }
}

void PerfettoWriter::write_overhead_records() {
  Pages pages(database_, target_, "cupti_overhead", "kind, start_ns, end_ns");
  Lanes lanes;
  while (const auto row = pages.next()) {
    const auto lane = static_cast<std::int64_t>(lanes.lane_for(0, row->integer(1), row->integer(2)));
    TraceEvent event('X', host(kFirstOverheadTrack + lane), json_string(row->text(0)), "overhead");
    events_.add(event.between(row->integer(1), row->integer(2)));
    host_tracks_.try_emplace(kFirstOverheadTrack + lane, "CUPTI overhead");
  }
}

}  // namespace kymo::exports

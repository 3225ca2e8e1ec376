// SPDX-License-Identifier: Apache-2.0
#include "worker/collective_recorder.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "base/clock.hpp"
#include "worker/range_recorder.hpp"
#include "worker/reported_collective.hpp"

namespace kymo::worker {
namespace {

std::uint64_t next_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

bool lies_within(const event::Collective& call, const event::Collective& around) {
  return call.position.thread == around.position.thread && call.enqueue_ns >= around.enqueue_ns &&
         (around.returned_ns < 0 || call.enqueue_ns <= around.returned_ns);
}

/// What needs the calls of a library needs each of them, as soon as it began if it was needed before.
void pass_need(event::Collective& call, const event::Collective& around) {
  if (call.needed_call_ns >= 0 || around.needed_call_ns < 0 || !lies_within(call, around)) return;
  call.needed_call_ns = std::max(around.needed_call_ns, call.enqueue_ns);
  call.needed_position = around.needed_position;
  call.needed_by = around.needed_by;
}

/// Whether an observed call is part of a reported one: the workload made it on the same thread between the begin and
/// the end of its report, or Gloo begins it later, on a thread of its own, where the group is unknown.
bool is_part(const event::Collective& call, const event::Collective& around) {
  using enum event::CollectiveOperation;
  if (lies_within(call, around)) return true;
  const bool is_same = call.operation == around.operation ||
                       (call.operation == kAllReduce && around.operation == kReduceScatter);  // Gloo has no other one
  return is_same && call.group_ranks < 0 && !around.on_device && call.enqueue_ns >= around.enqueue_ns &&
         call.enqueue_ns <= around.returned_ns;
}

/// Adds the calls that the workload reported to those that a collector observed.
void add_calls(std::vector<event::Collective>& observed, const std::vector<event::Collective>& reported) {
  std::erase_if(observed, [&](const event::Collective& call) {
    return std::ranges::any_of(reported, [&](const event::Collective& around) { return is_part(call, around); });
  });
  observed.insert(observed.end(), reported.begin(), reported.end());
  std::ranges::stable_sort(observed, {}, &event::Collective::enqueue_ns);
}

}  // namespace

CollectiveRecorder::CollectiveRecorder(std::int64_t run_start_ns, std::size_t most)
    : run_start_ns_(run_start_ns), max_(most), generation_(next_generation()) {}

std::uint64_t CollectiveRecorder::begin(const kymo_collective* given) {
  const ReportedCollective call = reported_collective(given);
  event::Collective begun;
  begun.position = RangeRecorder::execution_context().position();
  begun.bytes = call.bytes;
  begun.on_device = call.on_device;
  const std::lock_guard lock(mutex_);
  if (collected_) return 0;
  if (!call.operation && !call.is_library_calls) return ++invalid_, 0;
  if (calls_.size() >= max_) return ++dropped_, 0;
  if (call.operation) begun.operation = *call.operation;
  if (begun.operation == event::CollectiveOperation::kSend || begun.operation == event::CollectiveOperation::kReceive)
    begun.group_ranks = 2;  // of which the communicator's name tells one message from another
  if (call.communicator) begun.communicator = communicators_.intern(call.communicator);
  if (!call.is_library_calls) begun.sequence = call.sequence ? *call.sequence : count_call(begun.communicator);
  // Taken last and under the lock, so that the calls are ordered by these times.
  begun.enqueue_ns = now_ns() - run_start_ns_;
  calls_.push_back({std::move(begun), call.is_library_calls});
  return handle_of(calls_.size() - 1);
}

void CollectiveRecorder::end(std::uint64_t handle) noexcept {
  const std::int64_t returned_ns = now_ns() - run_start_ns_;
  if (handle == 0) return;
  const std::lock_guard lock(mutex_);
  if (collected_) return;
  Report* const report = find(handle);
  if (!report || report->call.returned_ns != -1) {
    ++unmatched_;
    return;
  }
  report->call.returned_ns =
      std::max(returned_ns, report->call.enqueue_ns);  // another thread may have delayed the lock
}

void CollectiveRecorder::needed(std::uint64_t handle, const char* by) {
  const std::int64_t needed_ns = now_ns() - run_start_ns_;
  const event::Position position = RangeRecorder::execution_context().position();
  const std::lock_guard lock(mutex_);
  Report* const report = collected_ ? nullptr : find(handle);
  if (!report || report->call.needed_call_ns != -1) return;
  report->call.needed_call_ns = needed_ns;
  report->call.needed_position = position;
  if (by) report->call.needed_by = names_.intern(by);
}

CollectiveRecorder::Report* CollectiveRecorder::find(std::uint64_t handle) {
  const std::uint64_t index = handle & ((std::uint64_t{1} << kIndexBits) - 1);
  const bool is_known = handle >> kIndexBits == generation_ && index >= 1 && index <= calls_.size();
  return is_known ? &calls_[index - 1] : nullptr;
}

std::int64_t CollectiveRecorder::count_call(event::TextId communicator) {
  if (next_number_.size() <= communicator) next_number_.resize(communicator + std::size_t{1}, 0);
  return next_number_[communicator]++;
}

void CollectiveRecorder::collect(event::PassRecord& record) {
  const std::lock_guard lock(mutex_);
  collected_ = true;
  std::vector<event::Collective> reported;
  for (auto& [call, is_library_calls] : calls_) {
    if (call.needed_by != event::kNoText) call.needed_by = record.trace.texts.intern(names_.text(call.needed_by));
    if (is_library_calls) {
      for (event::Collective& begun : record.trace.collectives) pass_need(begun, call);
    } else {
      call.communicator = record.trace.texts.intern(communicators_.text(call.communicator));
      reported.push_back(std::move(call));
    }
  }
  add_calls(record.trace.collectives, reported);
  calls_.clear();
  const auto report_dropped = [&](std::int64_t count, const std::string& detail) {
    add_dropped(record.dropped_records, "collective", count, detail);
  };
  report_dropped(dropped_, "collective calls beyond the first " + std::to_string(max_) + " of a pass");
  report_dropped(invalid_, "collective calls of an operation unknown to this version of kymo");
  report_dropped(unmatched_, "collective calls that ended without a matching begin, or twice");
}

}  // namespace kymo::worker

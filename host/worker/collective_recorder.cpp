// SPDX-License-Identifier: Apache-2.0
#include "worker/collective_recorder.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "worker/range_recorder.hpp"

namespace kymo::worker {
namespace {

std::uint64_t next_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Zero-extends the struct of a plugin that was compiled with fewer fields.
kymo_collective whole(const kymo_collective& given) {
  kymo_collective call{};
  std::memcpy(&call, &given, std::min<std::size_t>(given.size, sizeof(call)));
  return call;
}

std::optional<event::CollectiveOperation> operation_of(std::uint32_t number) {
  using enum event::CollectiveOperation;
  switch (number) {
    case KYMO_ALL_REDUCE:
      return kAllReduce;
    case KYMO_REDUCE_SCATTER:
      return kReduceScatter;
    case KYMO_ALL_GATHER:
      return kAllGather;
    case KYMO_BROADCAST:
      return kBroadcast;
    case KYMO_BARRIER:
      return kBarrier;
    default:
      return std::nullopt;
  }
}

bool lies_within(const event::Collective& call, const event::Collective& around) {
  return call.position.thread == around.position.thread && call.enqueue_ns >= around.enqueue_ns &&
         (around.returned_ns < 0 || call.enqueue_ns <= around.returned_ns);
}

/// Adds the calls that the workload reported to those that a collector observed. What the workload called on the same
/// thread between the begin and the end of its report is part of it.
void add_calls(std::vector<event::Collective>& observed, const std::vector<event::Collective>& reported) {
  std::erase_if(observed, [&](const event::Collective& call) {
    return std::ranges::any_of(reported, [&](const event::Collective& around) { return lies_within(call, around); });
  });
  observed.insert(observed.end(), reported.begin(), reported.end());
  std::ranges::stable_sort(observed, {}, &event::Collective::enqueue_ns);
}

/// Clamps a count to the range of a database integer.
std::int64_t bounded(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

CollectiveRecorder::CollectiveRecorder(std::int64_t run_start_ns, std::size_t most)
    : run_start_ns_(run_start_ns), max_(most), generation_(next_generation()) {}

std::uint64_t CollectiveRecorder::begin(const kymo_collective* given) {
  const kymo_collective call = given ? whole(*given) : kymo_collective{};
  const auto operation = operation_of(call.operation);
  event::Collective made;
  made.position = RangeRecorder::execution_context().position();
  made.bytes = bounded(call.bytes);
  made.on_device = call.stream != nullptr;
  const std::lock_guard lock(mutex_);
  if (collected_) return 0;
  if (!operation) return ++invalid_, 0;
  if (calls_.size() >= max_) return ++dropped_, 0;
  made.operation = *operation;
  if (call.communicator) made.communicator = communicators_.intern(call.communicator);
  const bool is_counted = call.size >= offsetof(kymo_collective, sequence) + sizeof(call.sequence);
  made.sequence = is_counted ? bounded(call.sequence) : count_call(made.communicator);
  // Taken last and under the lock, so that the calls are ordered by these times.
  made.enqueue_ns = now_ns() - run_start_ns_;
  calls_.push_back(made);
  return handle_of(calls_.size() - 1);
}

void CollectiveRecorder::end(std::uint64_t handle) noexcept {
  const std::int64_t returned_ns = now_ns() - run_start_ns_;
  if (handle == 0) return;
  const std::lock_guard lock(mutex_);
  if (collected_) return;
  event::Collective* const call = find(handle);
  if (!call || call->returned_ns != -1) {
    ++unmatched_;
    return;
  }
  call->returned_ns = std::max(returned_ns, call->enqueue_ns);  // another thread may have delayed the lock
}

event::Collective* CollectiveRecorder::find(std::uint64_t handle) {
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
  for (event::Collective& call : calls_)
    call.communicator = record.trace.texts.intern(communicators_.text(call.communicator));
  add_calls(record.trace.collectives, {calls_.begin(), calls_.end()});
  calls_.clear();
  const auto report_dropped = [&](std::int64_t count, const std::string& detail) {
    add_dropped(record.dropped_records, "collective", count, detail);
  };
  report_dropped(dropped_, "collective calls beyond the first " + std::to_string(max_) + " of a pass");
  report_dropped(invalid_, "collective calls of an operation unknown to this version of kymo");
  report_dropped(unmatched_, "collective calls that ended without a matching begin, or twice");
}

}  // namespace kymo::worker

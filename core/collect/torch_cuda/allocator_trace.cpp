// SPDX-License-Identifier: Apache-2.0
#include "collect/torch_cuda/allocator_trace.hpp"

#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/csrc/profiler/unwind/unwind.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "collect/stacks/memory_log.hpp"
#include "collect/torch_cuda/counter_ledger.hpp"

namespace kymo::collect {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;
using allocator::TraceEntry;
using event::MemoryAction;

std::optional<MemoryAction> action_of(const TraceEntry& entry) {
  switch (entry.action_) {
    case TraceEntry::ALLOC:
      return MemoryAction::kAllocate;
    case TraceEntry::FREE_REQUESTED:
      return MemoryAction::kFreeRequested;
    case TraceEntry::FREE_COMPLETED:
      return MemoryAction::kFreeCompleted;
    case TraceEntry::SEGMENT_ALLOC:
      return MemoryAction::kSegmentAllocate;
    case TraceEntry::SEGMENT_FREE:
      return MemoryAction::kSegmentFree;
    case TraceEntry::SEGMENT_MAP:
      return MemoryAction::kSegmentMap;
    case TraceEntry::SEGMENT_UNMAP:
      return MemoryAction::kSegmentUnmap;
    case TraceEntry::OOM:
      return MemoryAction::kOutOfMemory;
    default:
      return std::nullopt;  // the snapshot action changes nothing
  }
}

/// The process-wide recorder. Lock order: first the lock of the device's allocator, which is held while it reports,
/// then the recorder's mutex.
class AllocatorRecorder {
 public:
  void begin(const PassSetting& setting, c10::DeviceIndex device);
  void add_new(event::NewEvents& events);
  void end(event::PassRecord& record, const char* source);
  void report(const TraceEntry& entry) noexcept;

 private:
  enum class State { kOff, kRecording, kEnding };

  void attach();
  void keep(const TraceEntry& entry, MemoryAction action, const Stack* stack);
  std::uint32_t stream_number(void* stream);

  bool attached_ = false;
  std::atomic<State> state_{State::kOff};
  std::atomic<int> device_{0};
  std::atomic<bool> with_stacks_{false};

  std::mutex mutex_;  // guards the following members
  const ExecutionContext* execution_context_ = nullptr;
  std::int64_t run_start_ns_ = 0;
  MemoryLog log_;
  CounterLedger ledger_;
  event::MemoryEvent* last_ = nullptr;  // event whose counters are still pending; nullptr if it was dropped
  bool ended_ = true;                   // or never began
  std::unordered_map<void*, std::uint32_t> streams_;
};

AllocatorRecorder& recorder() {
  static auto* const the = new AllocatorRecorder;
  return *the;
}

void AllocatorRecorder::attach() {
  if (attached_) return;
  allocator::attachAllocatorTraceTracker([](const TraceEntry& entry) { recorder().report(entry); });
  attached_ = true;
}

void AllocatorRecorder::begin(const PassSetting& setting, c10::DeviceIndex device) {
  attach();
  if (setting.observation.stacks) prepare_stacks(&torch::unwind::unwind);
  {
    const std::lock_guard lock(mutex_);
    execution_context_ = setting.execution_context;
    run_start_ns_ = setting.run_start_ns;
    log_ = MemoryLog(setting.observation.memory_bytes);
    ledger_ = CounterLedger();
    last_ = nullptr;
    ended_ = false;
    streams_ = {{nullptr, 0}};
    with_stacks_ = setting.observation.stacks;
    device_ = device;
  }
  state_ = State::kRecording;
}

std::uint32_t AllocatorRecorder::stream_number(void* stream) {
  return streams_.emplace(stream, static_cast<std::uint32_t>(streams_.size())).first->second;
}

/// Called by the thread that holds the lock of the device's allocator.
void AllocatorRecorder::report(const TraceEntry& entry) noexcept {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kOff || entry.device_ != device_.load(std::memory_order_relaxed)) return;
  const auto action = action_of(entry);
  if (!action) return;
  try {
    // The lock is recursive, so the counters can be read here.
    const event::MemoryState reading = allocator_state(allocator::getDeviceStats(entry.device_)).current;
    const bool with_stack =
        with_stacks_ && (*action == MemoryAction::kAllocate || *action == MemoryAction::kOutOfMemory);
    const Stack stack = with_stack && state == State::kRecording ? take_stack() : Stack();
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    const event::MemoryState settled = ledger_.next(*action, static_cast<std::int64_t>(entry.size_), reading);
    if (last_) last_->after = settled;
    last_ = nullptr;
    if (state == State::kRecording)
      keep(entry, *action, &stack);
    else
      ended_ = true;  // the last event of the recording is complete; this event came later
  } catch (const std::exception&) {
    const std::lock_guard lock(mutex_);
    log_.count_dropped();
  }
}

void AllocatorRecorder::keep(const TraceEntry& entry, MemoryAction action, const Stack* stack) {
  event::MemoryEvent event;
  event.action = action;
  event.device = event::MemoryDevice::kCuda;
  event.time_ns = now_ns() - run_start_ns_;
  event.bytes = static_cast<std::int64_t>(entry.size_);
  // If the allocation failed, the address field contains the free memory of the device.
  if (action == MemoryAction::kOutOfMemory)
    event.free_bytes = static_cast<std::int64_t>(entry.addr_);
  else
    event.address = entry.addr_;
  event.stream = stream_number(entry.stream_);
  event.position = execution_context_->position();
  const auto name = execution_context_->op_name.load(std::memory_order_relaxed);
  last_ = log_.add(event, name ? name() : std::string_view(), stack);
}

void AllocatorRecorder::add_new(event::NewEvents& events) {
  const std::lock_guard lock(mutex_);
  if (!ended_) log_.add_new(events, last_ == nullptr);
}

void AllocatorRecorder::end(event::PassRecord& record, const char* source) {
  auto recording = State::kRecording;
  if (!state_.compare_exchange_strong(recording, State::kEnding)) return;
  // Reading the counters waits for a report in progress. A report that comes later completes the last event itself.
  std::optional<event::MemoryState> reading;
  try {
    reading = allocator_state(allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device_.load()))).current;
  } catch (const c10::Error&) {
    record.dropped_records.push_back({source, 1, "the counters after the last memory event are missing: device error"});
  }
  const std::lock_guard lock(mutex_);
  if (reading && !ended_ && ledger_.is_open()) {
    const event::MemoryState settled = ledger_.finish(*reading);
    if (last_) last_->after = settled;
  }
  state_ = State::kOff;
  ended_ = true;
  last_ = nullptr;
  add_dropped(record.dropped_records, source, ledger_.disagreements(),
              "unreported changes of the allocator's counters");
  log_.hand_over(record, source);
}

}  // namespace

void record_allocator(const PassSetting& setting, c10::DeviceIndex device) { recorder().begin(setting, device); }

void add_new_allocator_events(event::NewEvents& events) { recorder().add_new(events); }

void end_allocator_record(event::PassRecord& record, const char* source) { recorder().end(record, source); }

}  // namespace kymo::collect

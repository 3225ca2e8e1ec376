// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/cpu_memory.hpp"

#include <c10/core/CPUAllocator.h>
#include <torch/csrc/profiler/unwind/unwind.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>
#include <unordered_map>

#include "base/clock.hpp"
#include "collect/stacks/memory_log.hpp"

namespace kymo::collect {
namespace {

using event::MemoryAction;

void give_back(void* block);

/// Records and forwards all calls to the previous allocator. Lives until the process exits, because tensors keep
/// pointers to their allocator. A block's context must remain its own address, as LibTorch requires of an allocator
/// with a raw deleter; information about blocks is therefore kept in a table, and the deleter is a plain function.
class RecordingAllocator final : public c10::Allocator {
 public:
  void begin(const PassSetting& setting);
  void add_new(event::NewEvents& events);
  bool end(event::PassRecord& record, const char* source);

  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { forward_->copy_data(to, from, bytes); }
  void forward_free(void* block);

 private:
  void install();
  void born(void* block, std::size_t bytes, const Stack& stack);
  void died(void* block);
  void failed(std::size_t bytes, const Stack& stack);
  void note(MemoryAction action, void* block, std::int64_t bytes, const Stack* stack);
  Stack stack() const { return with_stacks_ ? take_stack() : Stack(); }

  c10::Allocator* forward_ = nullptr;  // set once
  c10::DeleterFnPtr forward_deleter_ = nullptr;
  std::atomic<bool> recording_{false};
  std::atomic<bool> with_stacks_{false};

  std::mutex mutex_;  // guards the following members
  const ExecutionContext* execution_context_ = nullptr;
  std::int64_t run_start_ns_ = 0;
  std::int64_t in_use_bytes_ = 0;
  std::unordered_map<void*, std::int64_t> live_;  // requested sizes of blocks allocated since the recording began
  MemoryLog log_;
  std::uint8_t priority_ = 0;
};

RecordingAllocator& recorder() {
  static auto* const allocator = new RecordingAllocator;
  return *allocator;
}

void give_back(void* block) { recorder().forward_free(block); }

void RecordingAllocator::begin(const PassSetting& setting) {
  if (recording_) throw std::logic_error("CPU memory is already being recorded");
  c10::Allocator* const present = c10::GetCPUAllocator();
  if (forward_ == nullptr) {
    if (present->raw_deleter() == nullptr)
      throw Unavailable("LibTorch's CPU allocator was replaced by one without a raw deleter");
    forward_ = present;
    forward_deleter_ = present->raw_deleter();
  } else if (present != forward_) {
    throw Unavailable("LibTorch's CPU allocator was replaced since the first pass of this process");
  }
  if (setting.observation.stacks) prepare_stacks(&torch::unwind::unwind);
  {
    const std::lock_guard lock(mutex_);
    execution_context_ = setting.execution_context;
    run_start_ns_ = setting.run_start_ns;
    in_use_bytes_ = 0;
    live_.clear();
    log_ = MemoryLog(setting.observation.memory_bytes);
    with_stacks_ = setting.observation.stacks;
  }
  install();
  recording_ = true;
}

/// LibTorch only replaces an allocator if the new one has at least the same priority. Using the previous allocator's
/// priority allows it to be restored later.
void RecordingAllocator::install() {
  for (int priority = 0; priority <= UINT8_MAX; ++priority) {
    priority_ = static_cast<std::uint8_t>(priority);
    c10::SetCPUAllocator(this, priority_);
    if (c10::GetCPUAllocator() == this) return;
  }
}

void RecordingAllocator::add_new(event::NewEvents& events) {
  const std::lock_guard lock(mutex_);
  if (recording_) log_.add_new(events);
}

bool RecordingAllocator::end(event::PassRecord& record, const char* source) {
  if (!recording_.exchange(false)) return false;
  // If another allocator was installed in front of this one meanwhile, keep forwarding.
  if (c10::GetCPUAllocator() == this) c10::SetCPUAllocator(forward_, priority_);
  const std::lock_guard lock(mutex_);
  log_.hand_over(record, source);
  live_.clear();
  return true;
}

c10::DataPtr RecordingAllocator::allocate(std::size_t bytes) {
  c10::DataPtr block;
  try {
    block = forward_->allocate(bytes);
  } catch (...) {
    if (recording_) failed(bytes, stack());
    throw;
  }
  // Also required while nothing is recorded, because raw_deleter() promises it.
  const bool known_deleter = block.get() == nullptr || block.compare_exchange_deleter(forward_deleter_, &give_back);
  if (recording_ && known_deleter && block.get() != nullptr) born(block.get(), bytes, stack());
  return block;
}

void RecordingAllocator::forward_free(void* block) {
  // Record before freeing: afterwards another thread may get the same address.
  if (recording_) died(block);
  forward_deleter_(block);
}

void RecordingAllocator::note(MemoryAction action, void* block, std::int64_t bytes, const Stack* stack) {
  event::MemoryEvent event;
  event.action = action;
  event.device = event::MemoryDevice::kCpu;
  event.time_ns = now_ns() - run_start_ns_;
  event.address = reinterpret_cast<std::uintptr_t>(block);
  event.bytes = bytes;
  event.position = execution_context_->position();
  event.after = {in_use_bytes_, in_use_bytes_, in_use_bytes_, in_use_bytes_};
  if (action == MemoryAction::kOutOfMemory)
    event.free_bytes =
        static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  const auto name = execution_context_->op_name.load(std::memory_order_relaxed);
  log_.add(event, name ? name() : std::string_view(), stack);
}

void RecordingAllocator::born(void* block, std::size_t bytes, const Stack& stack) {
  const std::lock_guard lock(mutex_);
  if (!recording_) return;
  const auto size = static_cast<std::int64_t>(bytes);
  in_use_bytes_ += size;
  try {
    live_[block] = size;
    note(MemoryAction::kAllocate, block, size, &stack);
  } catch (const std::bad_alloc&) {
    log_.count_dropped();
  }
}

void RecordingAllocator::died(void* block) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(block);
  if (!recording_ || found == live_.end()) return;  // allocated before the recording began
  const std::int64_t size = found->second;
  in_use_bytes_ -= size;
  live_.erase(found);
  try {
    // No stream uses host blocks, so the free is requested and completed at the same time.
    note(MemoryAction::kFreeRequested, block, size, nullptr);
    note(MemoryAction::kFreeCompleted, block, size, nullptr);
  } catch (const std::bad_alloc&) {
    log_.count_dropped();
  }
}

void RecordingAllocator::failed(std::size_t bytes, const Stack& stack) {
  const std::lock_guard lock(mutex_);
  if (!recording_) return;
  try {
    note(MemoryAction::kOutOfMemory, nullptr, static_cast<std::int64_t>(bytes), &stack);
  } catch (const std::bad_alloc&) {
    log_.count_dropped();
  }
}

}  // namespace

void record_cpu_memory(const PassSetting& setting) { recorder().begin(setting); }

void add_new_cpu_memory(event::NewEvents& events) { recorder().add_new(events); }

void end_cpu_memory(event::PassRecord& record, const char* source) { recorder().end(record, source); }

}  // namespace kymo::collect

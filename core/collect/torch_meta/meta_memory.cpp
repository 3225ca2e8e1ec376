// SPDX-License-Identifier: Apache-2.0
#include "collect/torch_meta/meta_memory.hpp"

#include <c10/core/Allocator.h>

#include <memory>
#include <mutex>

#include "base/clock.hpp"
#include "collect/stacks/memory_log.hpp"
#include "collect/torch_meta/meta_operators.hpp"

namespace kymo::collect {
namespace {

using event::MemoryAction;

/// Blocks of the caching allocator start on this boundary.
constexpr std::int64_t kCudaAlignment = 512;
/// Far from addresses of real memory.
constexpr std::uintptr_t kFirstAddress = std::uintptr_t{1} << 48;

/// Number of no recording.
constexpr int kUncounted = -1;

struct Block {
  std::uintptr_t address = 0;
  std::int64_t bytes = 0;
  int recording = 0;
};

void free_block(void* block);

/// The allocator of the device meta. Lives until the process exits, because tensors keep pointers to it.
class MetaAllocator final : public c10::Allocator {
 public:
  void begin(const PassSetting& setting) {
    if (c10::GetAllocator(at::kMeta) != this) c10::SetAllocator(at::kMeta, this, UINT8_MAX);
    if (c10::GetAllocator(at::kMeta) != this) throw Unavailable("LibTorch's allocator of the device meta was replaced");
    const std::lock_guard lock(mutex_);
    context_ = setting.execution_context;
    device_ = setting.device == measure::DeviceKind::kCuda ? event::MemoryDevice::kCuda : event::MemoryDevice::kCpu;
    run_start_ns_ = setting.run_start_ns;
    in_use_ = {};
    ++recording_;
    log_ = MemoryLog(setting.observation.memory_bytes);
  }

  void end(event::PassRecord& record, const char* source) {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    log_.hand_over(record, source);
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(at::kMeta);
    if (bytes == 0) return {nullptr, device};
    const std::lock_guard lock(mutex_);
    auto block = std::make_unique<Block>(next_address_, static_cast<std::int64_t>(bytes),
                                         MetaMode::is_compiling() ? kUncounted : recording_);
    next_address_ += static_cast<std::uintptr_t>(allocated(block->bytes));
    auto* const data = reinterpret_cast<void*>(block->address);
    if (block->recording == recording_) change(MemoryAction::kAllocate, *block, 1);
    return {data, block.release(), &free_block, device};
  }

  void freed(Block* block) {
    const std::unique_ptr<Block> owned(block);
    const std::lock_guard lock(mutex_);
    if (block->recording != recording_) return;
    change(MemoryAction::kFreeRequested, *block, -1);
    note(MemoryAction::kFreeCompleted, *block);
  }

  void copy_data(void*, const void*, std::size_t) const override {}

 private:
  std::int64_t allocated(std::int64_t bytes) const {
    if (device_ == event::MemoryDevice::kCpu) return bytes;
    return (bytes + kCudaAlignment - 1) / kCudaAlignment * kCudaAlignment;
  }

  void change(MemoryAction action, const Block& block, int sign) {
    in_use_.requested_bytes += sign * block.bytes;
    in_use_.allocated_bytes += sign * allocated(block.bytes);
    in_use_.active_bytes = in_use_.reserved_bytes = in_use_.allocated_bytes;
    note(action, block);
  }

  void note(MemoryAction action, const Block& block) {
    if (context_ == nullptr) return;
    event::MemoryEvent event;
    event.action = action;
    event.device = device_;
    event.time_ns = now_ns() - run_start_ns_;
    event.address = block.address;
    event.bytes = block.bytes;
    event.position = context_->position();
    event.after = in_use_;
    const auto name = context_->op_name.load(std::memory_order_relaxed);
    log_.add(event, name ? name() : std::string_view(), nullptr);
  }

  std::mutex mutex_;                           // guards the following members
  const ExecutionContext* context_ = nullptr;  // none without a recording
  event::MemoryDevice device_ = event::MemoryDevice::kCpu;
  std::int64_t run_start_ns_ = 0;
  event::MemoryState in_use_;
  std::uintptr_t next_address_ = kFirstAddress;
  int recording_ = 0;
  MemoryLog log_;
};

MetaAllocator& meta_allocator() {
  static auto* const allocator = new MetaAllocator;
  return *allocator;
}

void free_block(void* block) { meta_allocator().freed(static_cast<Block*>(block)); }

}  // namespace

void record_meta_memory(const PassSetting& setting) { meta_allocator().begin(setting); }

void end_meta_memory(event::PassRecord& record, const char* source) { meta_allocator().end(record, source); }

}  // namespace kymo::collect

// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/python_stacks.hpp"

#include <array>
#include <exception>
#include <functional>
#include <utility>

#include "base/text.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kStackShare = 4;
// Of a location: its entry, an index node, and texts of the usual length.
constexpr std::int64_t kFrameBytes = 400;
constexpr std::int64_t kNodeBytes = sizeof(event::NodeStack);

/// The GIL of the calling thread, and no garbage collection while it is held.
class PythonLock {
 public:
  PythonLock(const PythonApi& api, PythonStacks::Gil gil) : api_(api) {
    if (api.is_initialized() == 0) return;
    if (api.gil_check() == 0) {
      // A thread without a state has no Python frames.
      if (gil == PythonStacks::Gil::kIfHeld || api.this_thread_state() == nullptr) return;
      state_ = api.gil_ensure();
      ensured_ = true;
    }
    held_ = true;
    collected_ = api.gc_disable() != 0;
  }
  ~PythonLock() {
    if (collected_) api_.gc_enable();
    if (ensured_) api_.gil_release(state_);
  }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

  bool is_held() const { return held_; }

 private:
  const PythonApi& api_;
  int state_ = 0;
  bool ensured_ = false;
  bool held_ = false;
  bool collected_ = false;
};

void* as_address(const event::StackFrame* frame) {
  return const_cast<void*>(static_cast<const void*>(frame));  // StackTable only compares it
}

event::StackFrame frame_of(const void* address) { return *static_cast<const event::StackFrame*>(address); }

}  // namespace

/// Frames of the calling thread, innermost first. Its code objects live as long as the frames do.
struct PythonStacks::Walk {
  std::array<Location, kMaxFrames> locations;  // only the first `depth` are set
  std::uint32_t depth = 0;
};

std::size_t PythonStacks::LocationHash::operator()(const Location& location) const noexcept {
  return std::hash<void*>()(location.code) * 31 + static_cast<std::size_t>(location.instruction);
}

PythonStacks::PythonStacks(std::int64_t max_bytes)
    : api_(PythonApi::of_process()),
      max_bytes_(max_bytes),
      bytes_left_(max_bytes - max_bytes / kStackShare),
      stacks_(max_bytes / kStackShare, frame_of) {}

void PythonStacks::walk(Walk& walk) const {
  void* frame = api_.current_frame();
  if (frame != nullptr) api_.retain(frame);
  while (frame != nullptr && walk.depth < kMaxFrames) {
    void* const code = api_.frame_code(frame);
    const int instruction = api_.frame_instruction ? api_.frame_instruction(frame) : api_.frame_line(frame);
    walk.locations[walk.depth++] = {code, instruction};
    api_.release(code);
    void* const back = api_.frame_back(frame);
    api_.release(frame);
    frame = back;
  }
  if (frame != nullptr) api_.release(frame);
}

std::string PythonStacks::attribute(void* code, const char* name) const {
  std::string text;
  void* const value = api_.attribute(code, name);
  long size = 0;
  const char* const utf8 = value ? api_.utf8(value, &size) : nullptr;
  if (utf8 != nullptr) text.assign(utf8, static_cast<std::size_t>(size));
  if (value != nullptr) api_.release(value);
  if (api_.error_occurred() != nullptr) api_.error_clear();
  return text;
}

const event::StackFrame* PythonStacks::frame_at(const Location& location) {
  if (const auto found = frames_.find(location); found != frames_.end()) return found->second;
  if (bytes_left_ < kFrameBytes) return nullptr;
  bytes_left_ -= kFrameBytes;
  const bool has_instruction = api_.frame_instruction != nullptr;
  const int line = has_instruction ? api_.line_of(location.code, location.instruction) : location.instruction;
  const event::StackFrame* const frame = frame_of_line({location.code, line});
  frames_.emplace(location, frame);
  api_.retain(location.code);  // so that no other code object gets its address
  return frame;
}

const event::StackFrame* PythonStacks::frame_of_line(const Location& line) {
  const auto [found, is_new] = lines_.try_emplace(line, nullptr);
  if (!is_new) return found->second;
  std::string function = attribute(line.code, "co_qualname");  // from 3.11 on
  if (function.empty()) function = attribute(line.code, "co_name");
  event::StackFrame frame;
  frame.module = attribute(line.code, "co_filename");
  frame.function = std::move(function);
  frame.line = line.instruction;
  return found->second = &frame_texts_.emplace_back(std::move(frame));
}

std::int32_t PythonStacks::number_of(const Walk& walk) {
  Stack stack;
  for (std::uint32_t i = 0; i < walk.depth; ++i) {
    const event::StackFrame* const frame = frame_at(walk.locations[i]);
    if (frame == nullptr) {
      ++dropped_frames_;
      return -1;
    }
    stack.frames[stack.depth++] = as_address(frame);
  }
  return stacks_.number(stack);
}

std::int32_t PythonStacks::take(Gil gil) noexcept {
  const PythonLock python(api_, gil);
  // An exception that is being raised would be lost in the look-up of names.
  if (!python.is_held() || api_.error_occurred() != nullptr) return -1;
  Walk frames;
  walk(frames);
  const std::lock_guard lock(mutex_);
  try {
    return ended_ ? -1 : number_of(frames);
  } catch (const std::exception&) {
    ++dropped_frames_;
    return -1;
  }
}

void PythonStacks::note_node(event::AutogradPosition node, std::int32_t stack) noexcept {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (bytes_left_ < kNodeBytes) {
    ++dropped_nodes_;
    return;
  }
  try {
    nodes_.push_back({node, stack});
    bytes_left_ -= kNodeBytes;
  } catch (const std::exception&) {
    ++dropped_nodes_;
  }
}

void PythonStacks::add_new(event::NewEvents& events) {
  const std::lock_guard lock(mutex_);
  stacks_.add_new(added_stacks_, events.frames, events.stacks);
  events.node_stacks.insert(events.node_stacks.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(added_nodes_),
                            nodes_.end());
  added_nodes_ = nodes_.size();
}

void PythonStacks::finish(event::PassRecord& record, const char* source) {
  const PythonLock python(api_, Gil::kAcquire);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  StackTable::Kept kept;
  stacks_.add_new(kept, record.memory_trace.frames, record.memory_trace.stacks);
  record.trace.node_stacks = std::exchange(nodes_, {});
  const std::string bound = " beyond the memory limit of " + format_bytes(max_bytes_);
  add_dropped(record.dropped_records, source, dropped_frames_ + stacks_.dropped(), "Python stacks" + bound);
  add_dropped(record.dropped_records, source, dropped_nodes_, "Python stacks of backward nodes" + bound);
  if (python.is_held())
    for (const auto& [location, frame] : frames_) api_.release(location.code);
  frames_.clear();
  lines_.clear();
  frame_texts_.clear();
  stacks_ = StackTable();
  added_stacks_ = {};
}

}  // namespace kymo::collect

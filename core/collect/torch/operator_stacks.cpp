// SPDX-License-Identifier: Apache-2.0
#include "collect/torch/operator_stacks.hpp"

#include <ATen/record_function.h>

#include <atomic>
#include <string_view>

#include "collect/stacks/python_stacks.hpp"
#include "collect/torch/operator_log.hpp"

namespace kymo::collect {
namespace {

// Stacks of the current pass. Those of earlier passes are never destroyed, because threads may still use them.
std::atomic<PythonStacks*> g_stacks{nullptr};

bool is_in_node() noexcept { return torch::autograd::get_current_node() != nullptr; }

}  // namespace

void watch_stacks(const PassSetting& setting) {
  g_stacks.store(new PythonStacks(setting.observation.memory_bytes / 4), std::memory_order_release);
}

std::int32_t stack_of_call(const OpenCall* enclosing, std::int64_t sequence) noexcept {
  PythonStacks* const stacks = g_stacks.load(std::memory_order_acquire);
  if (stacks == nullptr || (sequence < 0 && is_in_node())) return -1;
  const bool is_within = enclosing && enclosing->stack >= 0 && std::string_view(enclosing->name).starts_with("aten::");
  const std::int32_t stack = is_within ? enclosing->stack : stacks->take(PythonStacks::Gil::kAcquire);
  if (sequence >= 0 && stack >= 0) stacks->note_node({sequence, at::RecordFunction::currentThreadId()}, stack);
  return stack;
}

std::int32_t stack_of_launch(const OpenCall* innermost) noexcept {
  PythonStacks* const stacks = g_stacks.load(std::memory_order_acquire);
  if (stacks == nullptr) return -1;
  if (innermost != nullptr) return innermost->stack;
  return is_in_node() ? -1 : stacks->take(PythonStacks::Gil::kIfHeld);
}

void add_new_stacks(event::NewEvents& events) {
  if (PythonStacks* const stacks = g_stacks.load()) stacks->add_new(events);
}

void end_stacks(event::PassRecord& record, const char* source) {
  if (PythonStacks* const stacks = g_stacks.exchange(nullptr)) stacks->finish(record, source);
}

}  // namespace kymo::collect

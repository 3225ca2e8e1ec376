// SPDX-License-Identifier: Apache-2.0
// Python stacks for python_stacks_test.py, which calls these functions with and without the GIL.
#include <memory>
#include <string>
#include <thread>

#include "collect/collector.hpp"
#include "collect/stacks/python_stacks.hpp"

using kymo::collect::PythonStacks;

extern "C" {

__attribute__((visibility("default"))) PythonStacks* make_stacks(long bytes) {
  try {
    return new PythonStacks(bytes);
  } catch (const kymo::collect::Unavailable&) {
    return nullptr;
  }
}

__attribute__((visibility("default"))) int take_stack(PythonStacks* stacks, int acquire) {
  return stacks->take(acquire != 0 ? PythonStacks::Gil::kAcquire : PythonStacks::Gil::kIfHeld);
}

/// In a thread that Python does not know.
__attribute__((visibility("default"))) int take_in_thread(PythonStacks* stacks) {
  int number = 0;
  std::thread([&] { number = stacks->take(PythonStacks::Gil::kAcquire); }).join();
  return number;
}

/// A line for each stack: its frames as FUNCTION@FILE@LINE, innermost first, with tabs between them. The last line has
/// the number of dropped records. Valid until the next call.
__attribute__((visibility("default"))) const char* finish_stacks(PythonStacks* stacks) {
  static std::string text;
  kymo::event::PassRecord record;
  stacks->finish(record, "test");
  text.clear();
  for (const auto& stack : record.memory_trace.stacks) {
    for (const std::uint32_t number : stack) {
      const kymo::event::StackFrame& frame = record.memory_trace.frames[number];
      text += frame.function + '@' + frame.module + '@' + std::to_string(frame.line) + '\t';
    }
    text += '\n';
  }
  std::int64_t dropped = 0;
  for (const auto& each : record.dropped_records) dropped += each.count;
  text += std::to_string(dropped);
  return text.c_str();
}

}  // extern "C"

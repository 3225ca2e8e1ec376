// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/page_memory.hpp"
#include "collect/execution_context.hpp"
#include "event/records.hpp"

namespace kymo::worker {

/// Records the phases and scopes of an observed pass on any thread, and maintains the execution context that collectors
/// query. At most one exists per process; during its lifetime the execution context refers to it.
class RangeRecorder {
 public:
  explicit RangeRecorder(std::int64_t run_start_ns);
  ~RangeRecorder();
  RangeRecorder(const RangeRecorder&) = delete;
  RangeRecorder& operator=(const RangeRecorder&) = delete;

  /// Outlives every recorder: collectors may query it at any time.
  static collect::ExecutionContext& execution_context();

  void set_step(std::int64_t step);
  /// `phase` is an index into the workload's phases. A phase may end on another thread than that which began it, if one
  /// waits for the other.
  void begin_phase(int phase, const std::string& name);
  void end_phase();
  /// Thread-safe. A scope that ends without a matching begin is counted as a dropped record.
  void begin_scope(const char* name);
  void end_scope();

  /// Adds the ranges since the last time; those that are open have no end. Always pass the same object.
  void add_new(event::NewEvents& events);

  /// Moves the ranges into the record, together with the counts of dropped records. Nothing is recorded afterwards.
  void collect(event::PassRecord& record);

 private:
  struct OpenRange {
    event::Range* range = nullptr;  // nullptr if it was dropped
    std::int32_t number = -1;       // -1 if it was dropped
    bool is_phase = false;
  };
  /// Cache entry for a known scope, keyed by the address of its name.
  struct KnownScope {
    const char* address = nullptr;
    event::TextId around = event::kNoText;  // path of the enclosing scope
    event::TextId name = event::kNoText;
    event::TextId path = event::kNoText;
  };
  static constexpr std::size_t kKnownScopes = 256;
  static constexpr std::size_t kBufferBytes = 256 * 1024;  // of the first one of a thread
  /// Records of one thread; other threads access them only in add_new() and collect().
  struct ThreadLog {
    collect::ThreadPosition* position = nullptr;
    std::mutex mutex;
    event::Texts texts;  // names and paths; ranges refer to these until collect()
    std::string path;    // buffer for composing a path
    std::pmr::monotonic_buffer_resource memory{kBufferBytes, page_memory()};
    std::pmr::deque<std::pair<std::int32_t, event::Range>> ranges{&memory};  // by number
    std::vector<OpenRange> open;                                             // innermost last
    std::array<KnownScope, kKnownScopes> known;
    std::size_t added = 0;  // ranges that add_new() has added
    event::TranslatedTexts added_texts;
  };

  static ThreadLog* log_of_this_thread() noexcept;
  static const collect::ThreadPosition& position_of_this_thread() noexcept;
  ThreadLog* add_thread();
  void begin(ThreadLog& log, bool is_phase, int phase, const char* name);
  bool end(ThreadLog& log, bool is_phase);
  static const KnownScope& scope_named(ThreadLog& log, const char* name);
  static event::TextId path_of(ThreadLog& log, event::TextId around, const char* name);

  std::int64_t run_start_ns_;
  std::atomic<std::int32_t> next_number_{0};
  std::atomic<std::int64_t> dropped_{0};
  std::atomic<std::int64_t> unmatched_{0};
  ThreadLog* phase_log_ = nullptr;  // of the thread that began the open phase
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadLog>> threads_;
};

}  // namespace kymo::worker

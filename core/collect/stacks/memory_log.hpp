// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/stacks/stack.hpp"
#include "event/records.hpp"
#include "event/texts.hpp"

namespace kymo::collect {

/// A growing sequence of rows that never move or get copied.
template <class Row>
class Chunks {
 public:
  /// The returned reference is valid until drain().
  Row& add(Row row) {
    if (chunks_.empty() || chunks_.back().size() == chunks_.back().capacity()) {
      const std::size_t rows = chunks_.empty() ? kFirstRows : std::min(kMaxRows, 2 * chunks_.back().capacity());
      chunks_.emplace_back().reserve(rows);
    }
    chunks_.back().push_back(std::move(row));
    ++size_;
    return chunks_.back().back();
  }
  std::size_t size() const { return size_; }

  /// Passes the rows from `first` to before `end` to `visit`, in order.
  template <class Visit>
  void each(std::size_t first, std::size_t end, Visit visit) const {
    std::size_t begin = 0;  // of the chunk
    for (const auto& chunk : chunks_) {
      for (std::size_t i = std::max(first, begin); i < std::min(end, begin + chunk.size()); ++i)
        visit(chunk[i - begin]);
      begin += chunk.size();
    }
  }

  /// Passes every row to `take`, in order, and frees the memory on the way.
  template <class Take>
  void drain(Take take) {
    for (auto& chunk : chunks_) {
      for (Row& row : chunk) take(row);
      std::vector<Row>().swap(chunk);
    }
    chunks_.clear();
    size_ = 0;
  }

 private:
  static constexpr std::size_t kFirstRows = 32;
  static constexpr std::size_t kMaxRows = 8192;

  std::vector<std::vector<Row>> chunks_;
  std::size_t size_ = 0;
};

/// The memory events of a pass, in order and within a memory limit. Not thread-safe.
class MemoryLog {
 public:
  /// `max_bytes` limits the memory of events and stacks; a quarter of it is reserved for stacks.
  explicit MemoryLog(std::int64_t max_bytes = 0);

  /// Adds an event; `op` is the operator it occurred in, `stack` may be nullptr. Returns a pointer that is valid until
  /// hand_over(), or nullptr if the limit is reached, which counts the event as dropped.
  event::MemoryEvent* add(event::MemoryEvent event, std::string_view op, const Stack* stack);
  /// Counts an observed event that could not be kept.
  void count_dropped() { ++dropped_; }
  /// Adds the events since the last call; the last one only if it is `complete`. Always pass the same object.
  void add_new(event::NewEvents& events, bool complete = true);
  /// Moves all events into the record, with dropped-record counts for `source`, and clears the log.
  void hand_over(event::PassRecord& record, const std::string& source);

 private:
  std::int64_t max_bytes_;
  std::int64_t bytes_left_;
  std::int64_t dropped_ = 0;
  Chunks<event::MemoryEvent> events_;
  event::Texts ops_;
  StackTable stacks_;
  // What add_new() has added:
  std::size_t added_ = 0;
  event::TranslatedTexts added_texts_;
  StackTable::Kept added_stacks_;
};

}  // namespace kymo::collect

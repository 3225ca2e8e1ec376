// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

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

}  // namespace kymo::collect

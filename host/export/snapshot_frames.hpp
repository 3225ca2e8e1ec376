// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "export/pages.hpp"
#include "export/pickle.hpp"
#include "export/snapshot_history.hpp"

namespace kymo::exports {

/// Writes the frames that the viewer shows for a block. Frame lists repeat, so each is written once and memoized.
class FrameWriter {
 public:
  FrameWriter(const store::ResultsDatabase& database, const Target& target, Pickle& pickle);

  /// Where the block was allocated: operator, scope and phase, then the native stack.
  void write_alloc(const HistoryBlock& block);
  /// The phase in which the block was freed. Not empty, because the viewer would treat the block as older than the
  /// trace.
  void write_free(const HistoryBlock& block);
  void write_none();

 private:
  /// Operator, scope, phase, stack, and the function above that writes the list.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;

  /// Refers to the list if it has already been written; otherwise the caller must write and close it.
  bool recalls(const Key& key);
  void close();
  void frame(const std::string& file, std::int64_t line, const std::string& name);
  void write_frame(const char* kind, std::int64_t id);
  void write_stack(std::int64_t stack);

  const store::ResultsDatabase& database_;
  const Target& target_;
  Pickle& pickle_;
  TextsById texts_;
  std::map<Key, std::uint32_t> lists_;
  Key open_;
};

}  // namespace kymo::exports

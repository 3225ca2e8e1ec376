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

/// Writes the frames that the viewer shows with a block: lists of them repeat, and each is written once.
class FrameWriter {
 public:
  FrameWriter(const store::ResultsDatabase& database, const Target& target, Pickle& pickle);

  /// Where the block was asked for: operator, scope and phase, then the code.
  void write_birth(const HistoryBlock& block);
  /// In which phase it was given back. Not empty, as the viewer takes that for a block older than the recording.
  void write_free(const HistoryBlock& block);
  void write_none();

 private:
  /// Operator, scope, phase, stack, and which of the functions above.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;

  /// Refers to the list if it was written before; else it is to be written, and closed.
  bool recalls(const Key& key);
  void close();
  void frame(const std::string& file, std::int64_t line, const std::string& name);
  void place(const char* kind, std::int64_t id);
  void write_stack(std::int64_t stack);

  const store::ResultsDatabase& database_;
  const Target& target_;
  Pickle& pickle_;
  TextsById texts_;
  std::map<Key, std::uint32_t> lists_;
  Key open_;
};

}  // namespace kymo::exports

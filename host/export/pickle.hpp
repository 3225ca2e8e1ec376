// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/output.hpp"

namespace kymo::exports {

/// Writes one Python object as a pickle of protocol 4 in one pass. Supports the opcodes for dicts, lists, pairs,
/// integers, strings and booleans that PyTorch's viewer can read. Strings are written once and memoized. Every begin
/// needs an end; a dict alternates keys and values.
class Pickle {
 public:
  explicit Pickle(Output& output);

  void begin_dict();
  void end_dict();
  void begin_list();
  void end_list();
  /// Writes two numbers as a tuple.
  void pair(std::int64_t first, std::int64_t second);
  void number(std::int64_t value);
  /// Writes an unsigned 64-bit number, such as an address.
  void address(std::uint64_t value);
  void boolean(bool value);
  void text(std::string_view value);
  /// Call this before each list item: items are written in batches.
  void item();

  /// Writes a dict key, to be followed by its value.
  void key(std::string_view name) { text(name); }
  void entry(std::string_view name, std::int64_t value) { key(name), number(value); }
  void entry(std::string_view name, std::string_view value) { key(name), text(value); }

  /// Memoizes the last written object and returns its id.
  std::uint32_t remember();
  void recall(std::uint32_t remembered);

  /// Finishes the pickle.
  void end();

 private:
  void put(std::uint8_t byte) { held_ += static_cast<char>(byte); }
  void put_number(std::uint64_t value, int bytes);
  void long_number(std::uint64_t low, bool negative);
  void flush();

  Output& output_;
  std::string held_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint32_t remembered_ = 0;
  std::vector<std::size_t> batches_;  // items in the current batch of each open list, innermost last
};

}  // namespace kymo::exports

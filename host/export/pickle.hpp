// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/output.hpp"

namespace kymo::exports {

/// Writes one Python object as a pickle of protocol 4, front to back: the part of the format that dicts, lists, pairs,
/// whole numbers, texts and truth values need, with the operations that PyTorch's viewer knows. Texts are written once
/// and referred to afterwards. What is opened must be closed; a dict takes key and value in turn.
class Pickle {
 public:
  explicit Pickle(Output& output);

  void begin_dict();
  void end_dict();
  void begin_list();
  void end_list();
  /// Two numbers as a tuple.
  void pair(std::int64_t first, std::int64_t second);
  void number(std::int64_t value);
  /// A number of 64 bits without sign: an address.
  void address(std::uint64_t value);
  void truth(bool value);
  void text(std::string_view value);
  /// To be called before each item of a list: readers take items in batches.
  void item();

  /// A key of a dict with its value.
  void key(std::string_view name) { text(name); }
  void entry(std::string_view name, std::int64_t value) { key(name), number(value); }
  void entry(std::string_view name, std::string_view value) { key(name), text(value); }

  /// Remembers the object that was written last, to be referred to by its number.
  std::uint32_t remember();
  void recall(std::uint32_t remembered);

  /// Ends the pickle.
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
  std::vector<std::size_t> batches_;  // items of each open list in its current batch, innermost last
};

}  // namespace kymo::exports

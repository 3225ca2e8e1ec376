// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::supervisor {

/// Keeps the beginning and the end of what a process prints, in bounded memory.
class OutputCapture {
 public:
  static constexpr std::size_t kHeadBytes = 32u << 10;
  static constexpr std::size_t kTailBytes = 32u << 10;

  void append(std::string_view bytes);
  void clear();

  /// What was kept, as UTF-8 (bytes that are none become U+FFFD); its last line says how much was cut, if anything was.
  std::string text() const;
  /// The last line that is not blank, or nothing: what a dying process said last.
  std::string last_line() const;

 private:
  std::string head_;
  std::string tail_;  ///< may hold more than kTailBytes; trimmed now and then
  std::uint64_t total_bytes_ = 0;
};

/// The text with every byte that is not UTF-8, and every NUL, replaced by U+FFFD.
std::string valid_utf8(std::string_view bytes);

}  // namespace kymo::supervisor

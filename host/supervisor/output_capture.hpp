// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::supervisor {

/// Keeps the first and last part of a process's output in bounded memory.
class OutputCapture {
 public:
  static constexpr std::size_t kHeadBytes = 32u << 10;
  static constexpr std::size_t kTailBytes = 32u << 10;

  void append(std::string_view bytes);
  void clear();

  /// The captured output as UTF-8 (invalid bytes become U+FFFD). If bytes were omitted, the last line states how many.
  std::string text() const;
  /// The last non-blank line, or empty. This is usually the error message of a crashed process.
  std::string last_line() const { return last_lines(1); }
  /// The last non-blank lines, separated by " | ".
  std::string last_lines(std::size_t count) const;

 private:
  std::string head_;
  std::string tail_;  ///< may exceed kTailBytes; trimmed periodically
  std::uint64_t total_bytes_ = 0;
};

}  // namespace kymo::supervisor

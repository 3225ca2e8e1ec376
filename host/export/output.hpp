// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kymo::exports {

/// A file written incrementally, or standard output. A regular file is renamed to its final name only when it is
/// complete, so that a failure leaves an existing file unchanged. Throws Error with the file name.
class Output {
 public:
  /// `file` "-" is standard output. Throws UsageError for a binary format on a terminal.
  enum class Kind { kText, kBinary };
  Output(std::filesystem::path file, Kind kind);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes);
  /// Writes buffered data and moves the file to its final name.
  void finish();

 private:
  void flush();
  [[noreturn]] void fail(int reason) const;

  std::filesystem::path file_;
  std::filesystem::path stage_;  // temporary file; empty if data is written directly
  std::string held_;
  int descriptor_ = -1;
};

}  // namespace kymo::exports

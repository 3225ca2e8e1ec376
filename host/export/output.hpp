// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kymo::exports {

/// A file that is written piece by piece, or standard output. A regular file takes its place only when it is whole, so
/// that a failure leaves an older one as it was. Throws Error naming the file.
class Output {
 public:
  /// `file` "-" is standard output. Throws UsageError for a binary format on a terminal.
  enum class Kind { kText, kBinary };
  Output(std::filesystem::path file, Kind kind);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes);
  /// Writes what is still held and puts the file into its place.
  void finish();

 private:
  void flush();
  [[noreturn]] void fail(int reason) const;

  std::filesystem::path file_;
  std::filesystem::path stage_;  // empty if bytes go to their place at once
  std::string held_;
  int descriptor_ = -1;
};

}  // namespace kymo::exports

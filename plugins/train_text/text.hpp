// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kymo::text {

/// Bytes to train on, and where they come from.
struct Text {
  std::string bytes;
  std::int64_t files = 0;  ///< number of files, the last of which may be cut off
  std::string sha256;      ///< of the bytes, in hexadecimal
};

/// The folder of the standard library of the `python3` on PATH. Throws std::runtime_error if there is none.
std::string standard_library();

/// The paths of the Python sources below a folder, sorted bytewise. Skips folders whose name begins with `test`,
/// `idle_test`, `site-packages` and `dist-packages`, and symbolic links. Throws std::runtime_error if the folder cannot
/// be read.
std::vector<std::string> sources_in(const std::string& folder);

/// Concatenates these sources up to `limit` bytes. Throws std::runtime_error if there are none.
Text read_text(const std::string& folder, std::int64_t limit);

}  // namespace kymo::text

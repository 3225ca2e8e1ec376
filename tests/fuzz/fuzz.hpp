// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

/// What the fuzz targets share. libFuzzer generates inputs by changing the files of a folder, the corpus.
namespace kymo::fuzz {

/// Reports an input that breaks a property. libFuzzer stores the input and the process ends.
inline void require(bool holds, const std::string& property, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (holds) return;
  std::cerr << file << ':' << line << ": property violated: " << property << std::endl;
  __builtin_trap();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void write_bytes(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << bytes;
  require(stream.good(), "an input can be written to " + file.string());
}

/// Writes the seeds to the corpus, the first folder among the arguments of libFuzzer, if it is empty.
inline void write_seeds(int count, char** arguments, const std::vector<std::string>& seeds) {
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path corpus = arguments[i];
    if (!std::filesystem::is_directory(corpus)) continue;
    if (!std::filesystem::is_empty(corpus)) return;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed)
      write_bytes(corpus / ("seed-" + std::to_string(seed)), seeds[seed]);
    return;
  }
}

}  // namespace kymo::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kymo::catalog {

/// Compiles one C++ file into ./NAME.so, where NAME is the file name without its extension, using the compiler in $CXX
/// or `c++`. With `torch`, links the LibTorch returned by find_torch(). Returns the created file. Throws UsageError if
/// the source is not suitable, and Error with the compiler's output if compilation fails.
std::filesystem::path build_plugin_file(const std::filesystem::path& source_cpp, bool torch);

}  // namespace kymo::catalog

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kymo::catalog {

/// Compiles one C++ file into ./NAME.so, NAME being the file's name without its ending, with the compiler in $CXX or
/// `c++`. With `torch`, links the LibTorch that find_torch() names. Returns the file made. Throws UsageError if the
/// source cannot be one, Error with the compiler's output if it does not compile.
std::filesystem::path build_plugin_file(const std::filesystem::path& source_cpp, bool torch);

}  // namespace kymo::catalog

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "collect/collector.hpp"

namespace kymo::collect {

/// Identifies the version, the compiler and the headers that host and modules share.
const char* build_id();

/// Loads a collector module and checks that it was built with this host. Modules are never unloaded, because their
/// libraries (CUDA, LibTorch) do not support it. Loading the same file again is cheap. Throws Unavailable if the file
/// does not exist, a library is missing (with the loader's message), or the build id differs.
const Module& load_module(const std::filesystem::path& file);

/// Loads the module with this name ("kymo_cuda") from this installation. Throws like load_module().
const Module& load_installed_module(const std::string& name);

}  // namespace kymo::collect

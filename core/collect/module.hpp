// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "collect/collector.hpp"

namespace kymo::collect {

/// What host and modules must have in common: version, compiler and the headers that cross between them.
const char* build_id();

/// Loads a collector module into this process and checks that it was built with this host. It is never unloaded: what
/// it links (CUDA, LibTorch) does not survive that. Loading the same file again is cheap. Throws Unavailable: no such
/// file, a library it needs is missing (the loader's own message), or another build.
const Module& load_module(const std::filesystem::path& file);

/// The module of that name ("kymo_cuda") in this installation. Throws as above.
const Module& load_installed_module(const std::string& name);

}  // namespace kymo::collect

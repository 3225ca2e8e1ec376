// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands.hpp"

namespace kymo::cli {

/// Adds the formats of `kymo export` that are implemented in Python, because the libraries that write them are.
void add_python_formats(CLI::App& command, Session& session);

}  // namespace kymo::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kymo::cli {

/// The whole tool: understands the command line, does what it says and returns the exit code. Errors are one line on
/// stderr.
int run_command_line(int argc, const char* const* argv);

}  // namespace kymo::cli

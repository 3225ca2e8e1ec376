// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kymo::cli {

/// Parses the command line, runs the command and returns the exit code. Errors are printed as one line on stderr.
int run_command_line(int argc, const char* const* argv);

}  // namespace kymo::cli

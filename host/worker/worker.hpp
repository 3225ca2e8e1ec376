// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kymo::worker {

/// Implements the hidden command `kymo worker`: connects to the control server (as SocketClient does), executes the
/// assigned passes and returns the exit code.
int run_worker(const std::string& address, int rank, const std::string& token);

}  // namespace kymo::worker

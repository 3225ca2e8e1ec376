// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace kymo::test {

/// Tells a test that this worker has begun its first step: creates a file named after the process in the directory
/// $KYMO_TEST_BEGUN, if it is set.
inline void report_begun() {
  if (const char* folder = std::getenv("KYMO_TEST_BEGUN"))
    std::ofstream(folder + ("/" + std::to_string(::getpid()))) << std::endl;
}

}  // namespace kymo::test

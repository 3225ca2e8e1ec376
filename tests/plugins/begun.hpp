// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
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

/// Lets a test extend a run: $KYMO_TEST_HOLD, if it is set, is "STEP:FILE", and this step lasts until the file exists.
inline void hold(std::int64_t step) {
  const char* const at = std::getenv("KYMO_TEST_HOLD");
  if (at == nullptr || std::atoll(at) != step) return;
  const std::string file = std::string(at).substr(std::string(at).find(':') + 1);
  while (::access(file.c_str(), F_OK) != 0) ::usleep(10'000);
}

}  // namespace kymo::test

// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

// Not in the plugin's list of exports, whatever its visibility says.
__attribute__((visibility("default"))) std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }

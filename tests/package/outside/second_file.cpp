// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

// Must not be exported by the plugin, despite its visibility attribute.
__attribute__((visibility("default"))) std::int64_t triangle(std::int64_t n) { return n * (n + 1) / 2; }

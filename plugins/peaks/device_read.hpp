// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kymo::peaks {

/// Queues a kernel that reads `count` words `repeats` times from L2 or memory, bypassing L1, and adds their sum modulo
/// 2^32 to `sum`. `count` must be a multiple of 4, and `words` aligned to 16 bytes. Returns a cudaError_t.
int read_on_device(const std::uint32_t* words, std::int64_t count, int repeats, std::uint32_t* sum, int multiprocessors,
                   void* stream);

}  // namespace kymo::peaks

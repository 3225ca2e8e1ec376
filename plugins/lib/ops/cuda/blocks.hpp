// SPDX-License-Identifier: Apache-2.0
// Number of blocks for given query or key rows per block, and their shared memory.
#pragma once
#include "flash.hpp"

namespace kymo::flash {

inline int64_t query_blocks(const Problem& p, int rows) { return (p.seq_q + rows - 1) / rows * p.heads_q * p.batch; }
inline int64_t key_blocks(const Problem& p, int rows) { return (p.seq_k + rows - 1) / rows * p.heads_kv * p.batch; }

/// Shared memory per block in KB: the minimum on GPUs of compute capability 8.0 and later, and the requirement of the
/// fp32 dK/dV kernel at this padded head size.
constexpr int kLeastSharedKb = 99;
constexpr int float_backward_kb(int columns) { return columns <= 64 ? kLeastSharedKb : columns <= 128 ? 105 : 201; }

}  // namespace kymo::flash

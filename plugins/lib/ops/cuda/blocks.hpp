// SPDX-License-Identifier: Apache-2.0
// Blocks of kernels: how many there are of one that owns so many rows of queries or of keys, and what one needs.
#pragma once
#include "flash.hpp"

namespace kymo::flash {

inline int64_t query_blocks(const Problem& p, int rows) { return (p.seq_q + rows - 1) / rows * p.heads_q * p.batch; }
inline int64_t key_blocks(const Problem& p, int rows) { return (p.seq_k + rows - 1) / rows * p.heads_kv * p.batch; }

/// Shared memory that every GPU of compute capability 8.0 and later grants a block, in KB, and what a block of the fp32
/// backward's key kernel takes at this padded head size.
constexpr int kLeastSharedKb = 99;
constexpr int float_backward_kb(int columns) { return columns <= 64 ? kLeastSharedKb : columns <= 128 ? 105 : 201; }

}  // namespace kymo::flash

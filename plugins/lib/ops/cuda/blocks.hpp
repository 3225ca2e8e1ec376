// SPDX-License-Identifier: Apache-2.0
// How many blocks a kernel has that owns so many rows of queries or of keys.
#pragma once
#include "flash.hpp"

namespace kymo::flash {

inline int64_t query_blocks(const Problem& p, int rows) { return (p.seq_q + rows - 1) / rows * p.heads_q * p.batch; }
inline int64_t key_blocks(const Problem& p, int rows) { return (p.seq_k + rows - 1) / rows * p.heads_kv * p.batch; }

}  // namespace kymo::flash

// SPDX-License-Identifier: Apache-2.0
// Launchers of all kernels, which accept calls that choice.cpp has matched, and what host and device code know about
// them: number of blocks, shared memory and workspace.
#pragma once
#include <cmath>
#include <string>

#include "flash.hpp"

namespace kymo::flash {

/// Number of blocks for this many query or key rows per block.
inline int64_t query_blocks(const Problem& p, int rows) { return (p.seq_q + rows - 1) / rows * p.heads_q * p.batch; }
inline int64_t key_blocks(const Problem& p, int rows) { return (p.seq_k + rows - 1) / rows * p.heads_kv * p.batch; }

/// Shared memory per block in KB: the minimum on GPUs of compute capability 8.0 and later, and the requirement of the
/// fp32 dK/dV kernel at this padded head size.
constexpr int kMinSharedKb = 99;
constexpr int float_backward_kb(int columns) { return columns <= 64 ? kMinSharedKb : columns <= 128 ? 105 : 201; }

using LaunchForward = std::string(const Forward&, Stream);
using LaunchBackward = std::string(const Backward&, Stream);

/// Hopper, bf16 and fp16: padded head size, then tile rows of queries x keys; pipelined: see
/// hopper_forward_pipelined.cuh.
LaunchForward hopper_forward_d64_192x128, hopper_forward_d64_pipelined128x128, hopper_forward_d96_pipelined128x128,
    hopper_forward_d128_pipelined128x128, hopper_forward_d192_128x112, hopper_forward_d192_pipelined128x80,
    hopper_forward_d256_128x80;
/// At most 16 query rows and no mask (forward_decode.hpp).
LaunchForward hopper_decode_d64, hopper_decode_d128;
/// Split-KV (forward_splits.hpp).
LaunchForward hopper_forward_d64_splitkv128x128, hopper_forward_d128_splitkv128x128, hopper_forward_d192_splitkv128x112,
    hopper_forward_d256_splitkv128x80, float_forward_d64_splitkv128x48, float_forward_d128_splitkv64x64,
    float_forward_d256_splitkv64x16;
LaunchBackward hopper_backward_d64, hopper_backward_d128, hopper_backward_d128_early, hopper_backward_d128_lockstep,
    hopper_backward_d128_lockstep_early, hopper_backward_d192, hopper_backward_d256, hopper_backward_d64_splitq,
    hopper_backward_d128_splitq, hopper_backward_d128_lockstep_splitq, hopper_backward_d192_splitq,
    hopper_backward_d256_splitq;
/// Short sequences (ShortTile, fits_pairs()).
LaunchBackward hopper_backward_d64_short, hopper_backward_d128_short, hopper_backward_d64_pairs;

/// Compute capability 8.0 and later; each supports d up to the padded head size in its name. fp32: followed by tile
/// rows held x streamed; `counters` adds dQ in global memory (float_dq_partials.cuh).
LaunchForward portable_forward_d64, portable_forward_d128, portable_forward_d256;      // bf16, fp16
LaunchBackward portable_backward_d64, portable_backward_d128, portable_backward_d256;  // bf16, fp16
LaunchForward float_forward_d64_128x48, float_forward_d128_64x64, float_forward_d256_64x16;
LaunchBackward float_backward_d64_atomic, float_backward_d64_splitq, float_backward_d128_atomic,
    float_backward_d128_splitq, float_backward_d256_atomic, float_backward_d256_splitq, float_backward_d128_small,
    float_backward_d128_splitq_small, float_backward_d256_small, float_backward_d256_splitq_small,
    float_backward_d64_128x32, float_backward_d128_64x16, float_backward_d256_32x16;

/// Whether a Hopper forward without cross-tile pipelining distributes its tiles with a counter. Measured faster,
/// despite the memset, for short calls that are causal or have small heads.
inline bool uses_tile_counter(const Problem& p) { return p.seq_k < 4096 && (p.causal || p.d <= 64); }

/// Layout of Backward::workspace: the results of the kernel begin for each row (RowSums), then (Hopper) the fp32
/// accumulator of dQ with padded head size `columns`, then (split-Q) fp32 sums of dK and dV, then (Hopper) the number
/// of key blocks taken, followed by the semaphores (deterministic) or the number of finished contributions per
/// key/value head.
struct BackwardSpace {
  int64_t padded, rows;                                        // rows of a head, padded; of all heads
  int64_t sums, accumulator, gradients, semaphores, counters;  // 4-byte words of each part
  size_t bytes() const { return static_cast<size_t>(sums + accumulator + gradients + semaphores + counters) * 4; }
};
constexpr int kRowPadding = 128;
/// Query rows of a key block, of all query heads of its group, that backward kernels for short sequences support.
constexpr int kShortRows = 512;
/// Blocks of these kernels: those of `keys` compute dK and dV from tiles of `rows` queries, those of `queries` dQ. The
/// results are reproducible, and there is no workspace.
struct ShortTile {
  int rows;
  static constexpr int keys = 128, queries = 128;

  /// Query rows of a key block.
  int64_t all_rows(const Problem& p) const { return p.heads_q / p.heads_kv * ((p.seq_q + rows - 1) / rows * rows); }
  bool fits(const Problem& p) const { return all_rows(p) <= kShortRows; }
};
constexpr ShortTile short_tile(int columns) { return {columns <= 64 ? 128 : 64}; }
/// Times of the kernels for short sequences, in units of a tile: rounds of thread blocks on the SMs, times the tiles of
/// a block and one more for its start.
inline double short_time(const Problem& p, int multiprocessors) {
  const auto tiles = [](int64_t rows, int in_tile) { return static_cast<double>((rows + in_tile - 1) / in_tile); };
  const double of_keys = static_cast<double>(key_blocks(p, ShortTile::keys)),
               of_queries = static_cast<double>(query_blocks(p, ShortTile::queries)), blocks = of_keys + of_queries;
  const double query_tiles = static_cast<double>(p.heads_q / p.heads_kv) * tiles(p.seq_q, ShortTile::queries);
  const double times = of_keys * (1 + query_tiles) + of_queries * (1 + tiles(p.seq_k, ShortTile::keys));
  return std::ceil(blocks / multiprocessors) * times / blocks;
}
/// Whether one thread block can compute the gradients of 128 keys and of the queries at the same positions, from tiles
/// that stay in shared memory (hopper_backward_pairs).
inline bool fits_pairs(const Problem& p) {
  return p.heads_q == p.heads_kv && p.seq_q == p.seq_k && p.seq_k <= 2 * ShortTile::keys;
}
inline double pairs_time(const Problem& p, int multiprocessors) {
  const double tiles = p.seq_k <= ShortTile::keys ? 1 : 2;
  return std::ceil(static_cast<double>(key_blocks(p, ShortTile::keys)) / multiprocessors) * (1 + 2 * tiles);
}
/// Whether these kernels are faster than those for longer sequences, and than each other. The limits were measured with
/// CUDA graphs on an H200, at d 64 and 128 with 64 to 512 tokens, pairs at d 64 with 128 and 256, also on an H100;
/// calls that are launched one by one would gain a little above them, too, because each kernel costs more there.
inline bool short_is_faster(const Problem& p, int multiprocessors) { return short_time(p, multiprocessors) <= 9; }
inline bool pairs_are_faster(const Problem& p, int multiprocessors) {
  const double time = pairs_time(p, multiprocessors);
  return time <= short_time(p, multiprocessors) && (p.causal || time <= 15);
}
/// Queries of a tile of the backward kernels whose consumers work in lockstep (hopper_backward_lockstep.cuh), and the
/// padding of their rows, a multiple of both.
constexpr int kLockstepRows = 80, kLockstepRowPadding = 5 * kRowPadding;
/// Whether these kernels support a call: they divide lse by the scale.
inline bool lockstep_fits(const Problem& p) { return p.scale >= 1e-30f; }
/// Whether they are faster. Measured at d 128 on an H200: unless the call is deterministic, they take 8 % less time per
/// query of a tile, but few queries may leave more of their tiles empty than of tiles of 64.
inline bool lockstep_is_faster(const Problem& p, bool deterministic) {
  if (deterministic) return p.seq_k >= 1024;
  const auto in_tiles = [&](int64_t rows) { return static_cast<double>((p.seq_q + rows - 1) / rows * rows); };
  return p.seq_k >= (p.causal ? 4096 : 1024) && 0.92 * in_tiles(kLockstepRows) <= in_tiles(64);
}
/// columns: 0 for kernels without an accumulator.
inline BackwardSpace backward_space(const Backward& call, int columns, bool split_q = false, bool lockstep = false) {
  BackwardSpace space{};
  const int padding = lockstep ? kLockstepRowPadding : kRowPadding;
  space.padded = (call.problem.seq_q + padding - 1) / padding * padding;
  space.rows = call.problem.batch * call.problem.heads_q * space.padded;
  space.sums = space.rows * (lockstep ? 4 : 2);
  space.accumulator = space.rows * columns;
  const int64_t padded_keys = (call.problem.seq_k + kRowPadding - 1) / kRowPadding * kRowPadding;
  if (split_q && columns) space.gradients = 2 * call.problem.batch * call.problem.heads_kv * padded_keys * columns;
  if (columns && call.deterministic)
    space.semaphores = 1 + 2 * space.rows / 64;  // block counter, and two semaphores for each query tile
  if (columns && !call.deterministic) space.counters = 1 + call.problem.batch * call.problem.heads_kv;
  return space;
}

}  // namespace kymo::flash

// SPDX-License-Identifier: Apache-2.0
// Launchers of all kernels, which accept calls that choice.cpp has matched, and what host and device code know about
// them: number of blocks, shared memory and workspace.
#pragma once
#include <string>

#include "flash.hpp"

namespace kymo::flash {

/// Number of blocks for this many query or key rows per block.
inline int64_t query_blocks(const Problem& p, int rows) { return (p.seq_q + rows - 1) / rows * p.heads_q * p.batch; }
inline int64_t key_blocks(const Problem& p, int rows) { return (p.seq_k + rows - 1) / rows * p.heads_kv * p.batch; }

/// Shared memory per block in KB: the minimum on GPUs of compute capability 8.0 and later, and the requirement of the
/// fp32 dK/dV kernel at this padded head size.
constexpr int kLeastSharedKb = 99;
constexpr int float_backward_kb(int columns) { return columns <= 64 ? kLeastSharedKb : columns <= 128 ? 105 : 201; }

using LaunchForward = std::string(const Forward&, Stream);
using LaunchBackward = std::string(const Backward&, Stream);

/// Hopper, bf16 and fp16: padded head size, then tile rows of queries x keys; chained: see hopper_forward_chained.cuh.
LaunchForward hopper_forward_d64_192x128, hopper_forward_d64_chained128x128, hopper_forward_d96_128x176,
    hopper_forward_d96_128x128, hopper_forward_d96_chained128x128, hopper_forward_d128_chained128x128,
    hopper_forward_d192_128x112, hopper_forward_d192_chained128x80, hopper_forward_d256_128x80;
/// Split-KV (forward_parts.hpp).
LaunchForward hopper_forward_d64_parts128x128, hopper_forward_d128_parts128x128, hopper_forward_d192_parts128x112,
    hopper_forward_d256_parts128x80, float_forward_d64_parts128x48, float_forward_d128_parts64x64,
    float_forward_d256_parts64x16;
LaunchBackward hopper_backward_d64, hopper_backward_d128, hopper_backward_d128_early, hopper_backward_d192,
    hopper_backward_d256, hopper_backward_d64_cut, hopper_backward_d128_cut, hopper_backward_d192_cut,
    hopper_backward_d256_cut;

/// Compute capability 8.0 and later; each supports d up to the padded head size in its name. fp32: followed by tile
/// rows held x streamed; `shares` adds dQ in global memory (float_shares.cuh).
LaunchForward portable_forward_d64, portable_forward_d128, portable_forward_d256;      // bf16, fp16
LaunchBackward portable_backward_d64, portable_backward_d128, portable_backward_d256;  // bf16, fp16
LaunchForward float_forward_d64_128x48, float_forward_d128_64x64, float_forward_d256_64x16;
LaunchBackward float_backward_d64_shares, float_backward_d64_cut, float_backward_d128_shares, float_backward_d128_cut,
    float_backward_d256_shares, float_backward_d256_cut, float_backward_d128_small, float_backward_d128_cut_small,
    float_backward_d256_small, float_backward_d256_cut_small, float_backward_d64_128x32, float_backward_d128_64x16,
    float_backward_d256_32x16;

/// Whether a Hopper forward without cross-tile pipelining distributes its tiles with a counter. Measured faster,
/// despite the memset, for short calls that are causal or have small heads.
inline bool wants_counter(const Problem& p) { return p.seq_k < 4096 && (p.causal || p.d <= 64); }

/// Layout of Backward::workspace: lse and delta with rows padded to a multiple of kRowPadding, then (Hopper) the fp32
/// accumulator of dQ with padded head size `columns`, then (split-Q) fp32 sums of dK and dV, then the semaphores
/// (deterministic Hopper) or the number of finished contributions per key/value head (Hopper).
struct BackwardSpace {
  int64_t heads, padded;  // over all batch elements; rows of each
  int64_t sums, accumulator, gradients, turns,
      shares;  // 4-byte words of each part; `sums` counts one of lse and delta
  size_t bytes() const { return static_cast<size_t>(2 * sums + accumulator + gradients + turns + shares) * 4; }
};
constexpr int kRowPadding = 128;
/// columns: 0 for kernels without an accumulator.
inline BackwardSpace backward_space(const Backward& call, int columns, bool cut = false) {
  BackwardSpace space{};
  space.heads = call.problem.batch * call.problem.heads_q;
  space.padded = (call.problem.seq_q + kRowPadding - 1) / kRowPadding * kRowPadding;
  space.sums = space.heads * space.padded;
  space.accumulator = space.sums * columns;
  const int64_t padded_keys = (call.problem.seq_k + kRowPadding - 1) / kRowPadding * kRowPadding;
  if (cut && columns) space.gradients = 2 * call.problem.batch * call.problem.heads_kv * padded_keys * columns;
  if (columns && call.deterministic)
    space.turns = 1 + 2 * space.sums / 64;  // block counter, and two semaphores for each query tile
  if (columns && !call.deterministic) space.shares = call.problem.batch * call.problem.heads_kv;
  return space;
}

}  // namespace kymo::flash

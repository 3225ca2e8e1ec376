// SPDX-License-Identifier: Apache-2.0
// What the consumer warpgroups of the Hopper backward do at every head size: products by rows and by columns, and the mask.
#pragma once
#include "hopper_gradients.cuh"

namespace kymo::flash {

/// Issues acc (keys x queries) = A B^T; a, b: operands of the warpgroup's rows of K or V and of a tile of Q or dO.
template <class Tiles>
__device__ __forceinline__ void issue_rows(float (&acc)[Tiles::kRows / 2], uint32_t a, uint32_t b) {
  using Product = Wgmma<typename Tiles::T, Tiles::kRows>;
  product_fence();
#pragma unroll
  for (int step = 0; step < Tiles::kD / 16; ++step) {
    const uint32_t in_panel = step % 4 * 32;
    const uint64_t left = descriptor(a, step / 4 * Tiles::kKeys * 128 + in_panel);
    const uint64_t right = descriptor(b, step / 4 * Tiles::kRows * 128 + in_panel);
    if (step == 0)
      Product::template shared_first<false>(acc, left, right);
    else
      Product::template shared<false>(acc, left, right);
  }
  product_commit();
}
/// Issues acc (keys x head size) += left (keys x queries) B; b: operand of a tile of dO or Q, its columns.
template <class Tiles>
__device__ __forceinline__ void issue_columns(float (&acc)[Tiles::kD / 2], uint32_t (&left)[Tiles::kRows / 4], uint32_t b) {
  pin(left);
  product_fence();
#pragma unroll
  for (int step = 0; step < Tiles::kRows / 16; ++step)
    Wgmma<typename Tiles::T, Tiles::kD>::registers(acc, left + 4 * step, descriptor(b, step * 2048));
  product_commit();
}
/// -inf for scores of the tile of queries from row0 on that the warpgroup's keys, `from` rows into the block, do not enter.
template <class Tiles>
__device__ __forceinline__ void mask_keys(float (&s)[Tiles::kRows / 2], const HopperBackwardCall& call, const KeyBlock& block, int from,
                                          int row0) {
  const int end = block.first_key + Tiles::kKeys;
  const bool diagonal = Tiles::kCausal && row0 + call.shift < end;
  const bool border = end > call.seq_k;
  if (!diagonal && !border) return;
  const int now = thread_now(), key = block.first_key + from + ((now & 127) >> 5) * 16 + ((now & 31) >> 2);
  const int ahead = Tiles::kCausal ? key - call.shift - row0 - 2 * (now & 3) : -(1 << 30), left = call.seq_k - key;
#pragma unroll
  for (int j = 0; j < Tiles::kRows / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (8 * j + (e & 1) - (e >> 1) * 8 < ahead || (e >> 1) * 8 >= left) s[4 * j + e] = -INFINITY;
}

}  // namespace kymo::flash

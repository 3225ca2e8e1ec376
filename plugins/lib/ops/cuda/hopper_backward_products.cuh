// SPDX-License-Identifier: Apache-2.0
// Common MMAs and mask of the consumer warpgroups of the Hopper backward, for every head size.
#pragma once
#include "hopper_gradients.cuh"
#include "hopper_products.cuh"

namespace kymo::flash {

/// Issues acc (keys x queries) = A B^T; a, b: operands of the warpgroup's rows of K or V, and of a tile of Q or dO.
template <class Tiles>
__device__ __forceinline__ void issue_rows(float (&acc)[Tiles::kRows / 2], uint32_t a, uint32_t b) {
  product_fence();
  issue_by_rows<typename Tiles::T, Tiles::kD, Tiles::kKeys, Tiles::kRows>(acc, a, b);
  product_commit();
}
/// Issues acc (keys x head size) += left (keys x queries) B; b: operand of a tile of dO or Q, its columns.
template <class Tiles>
__device__ __forceinline__ void issue_columns(float (&acc)[Tiles::kD / 2], uint32_t (&left)[Tiles::kRows / 4],
                                              uint32_t b) {
  pin(left);
  product_fence();
  issue_by_columns<typename Tiles::T, Tiles::kD, Tiles::kRows>(acc, left, b);
  product_commit();
}
/// Sets scores to -inf where a query of the tile from row0 on does not see a key of the warpgroup, whose keys start
/// `from` rows into the block.
template <class Tiles>
__device__ __forceinline__ void mask_keys(float (&s)[Tiles::kRows / 2], const HopperBackwardCall& call,
                                          const KeyBlock& block, int from, int row0) {
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

// SPDX-License-Identifier: Apache-2.0
// Common code of the consumer warpgroups of the Hopper forward for a key tile: the two MMAs and the mask.
#pragma once
#include "hopper_forward.cuh"
#include "hopper_mask.cuh"
#include "hopper_products.cuh"

namespace kymo::flash {

/// Issues S = Q K^T; q, k: operands of the warpgroup's rows and of the key tile.
template <class Tiles>
__device__ __forceinline__ void issue_scores(float (&s)[Tiles::kKeys / 2], uint32_t q, uint32_t k) {
  issue_by_rows<typename Tiles::T, Tiles::kD, Tiles::kRows, Tiles::kKeys>(s, q, k);
  product_commit();
}
/// Issues O += P V.
template <class Tiles>
__device__ __forceinline__ void issue_outputs(float (&o)[Tiles::kD / 2], const uint32_t (&p)[Tiles::kKeys / 4],
                                              uint32_t v) {
  issue_by_columns<typename Tiles::T, Tiles::kD, Tiles::kKeys>(o, p, v);
  product_commit();
}
/// Masks scores of the key tile from first_key on: keys past the end and keys that this thread's rows (`row` and the
/// one eight below) do not see.
template <class Tiles>
__device__ __forceinline__ void mask_scores(float (&s)[Tiles::kKeys / 2], const ForwardSchedule& schedule, int row,
                                            int first_key) {
  const int limit = schedule.seq_k - first_key, diagonal = row + schedule.shift - first_key;
#pragma unroll
  for (int r = 0; r < 2; ++r) mask_from(s, r, Tiles::kCausal ? min(limit, diagonal + 8 * r + 1) : limit);
}
/// Softmax of a tile whose scores no P V overlaps.
template <class Softmax>
__device__ __forceinline__ void first_softmax(Softmax& softmax) {
#pragma unroll
  for (int k = 0; k < Softmax::kPieces; ++k) softmax.maximum_piece(k);
  softmax.finish_maximum();
#pragma unroll
  for (int k = 0; k < Softmax::kPieces; ++k) softmax.exponential_piece(k);
  softmax.finish_sum();
  pin(softmax.s);
}

}  // namespace kymo::flash

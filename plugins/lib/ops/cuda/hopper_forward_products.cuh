// SPDX-License-Identifier: Apache-2.0
// What the consumer warpgroups of the Hopper forward do with a tile of keys, chained or not: the two products and the mask.
#pragma once
#include "hopper_forward.cuh"
#include "hopper_mask.cuh"

namespace kymo::flash {

/// Issues S = Q K^T; q, k: operands of the warpgroup's rows and of the tile.
template <class Tiles>
__device__ __forceinline__ void issue_scores(float (&s)[Tiles::kKeys / 2], uint32_t q, uint32_t k) {
  using Product = Wgmma<typename Tiles::T, Tiles::kKeys>;
#pragma unroll
  for (int step = 0; step < Tiles::kD / 16; ++step) {
    const uint32_t panel = step / 4, in_panel = step % 4 * 32;
    const uint64_t a = descriptor(q, panel * Tiles::kRows * 128 + in_panel), b = descriptor(k, panel * Tiles::kKeys * 128 + in_panel);
    if (step == 0)
      Product::template shared_first<false>(s, a, b);
    else
      Product::template shared<false>(s, a, b);
  }
  product_commit();
}
/// Issues O += P V.
template <class Tiles>
__device__ __forceinline__ void issue_outputs(float (&o)[Tiles::kD / 2], const uint32_t (&p)[Tiles::kKeys / 4], uint32_t v) {
#pragma unroll
  for (int step = 0; step < Tiles::kKeys / 16; ++step)
    Wgmma<typename Tiles::T, Tiles::kD>::registers(o, p + 4 * step, descriptor(v, step * 2048));
  product_commit();
}
/// Of the tile of keys from first_key on: what lies past the last key or, for this thread's rows (`row` and eight below), is not seen.
template <class Tiles>
__device__ __forceinline__ void mask_scores(float (&s)[Tiles::kKeys / 2], const ForwardSchedule& schedule, int row, int first_key) {
  const int limit = schedule.seq_k - first_key, diagonal = row + schedule.shift - first_key;
#pragma unroll
  for (int r = 0; r < 2; ++r) mask_from(s, r, Tiles::kCausal ? min(limit, diagonal + 8 * r + 1) : limit);
}
/// The softmax of a tile whose scores no P V overlaps.
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

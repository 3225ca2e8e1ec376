// SPDX-License-Identifier: Apache-2.0
// Common code of the consumer warpgroups of the Hopper forward for a key tile: the two MMAs and the mask.
#pragma once
#include "hopper.cuh"
#include "hopper_forward.cuh"

namespace kymo::flash {

// Masks work on the accumulators of one warpgroup. A thread's elements of a row (columns 8 j + 2 (lane % 4) and the
// next) are bits of a word: the compiler then turns seven bits into predicates at once, whereas comparing columns takes
// one or two instructions each.

/// Number of a thread's columns below `column`, which may be negative.
__device__ __forceinline__ int columns_below(int column) {
  const int past = max(0, column - static_cast<int>(threadIdx.x) % 4 * 2);
  return past / 8 * 2 + min(past % 8, 2);
}
/// The lowest `count` of 32 bits; `count` may be negative or above 32.
__device__ __forceinline__ uint32_t low_bits(int count) {
  return count >= 32 ? ~0u : count <= 0 ? 0u : (1u << count) - 1;
}

/// Sets the scores of row r (0, 1: eight apart) from column `end` on to -inf.
template <int kNumbers>
__device__ __forceinline__ void mask_from(float (&s)[kNumbers], int r, int end) {
  const int count = columns_below(end);
#pragma unroll
  for (int first = 0; first < kNumbers / 2; first += 32) {
    const uint32_t seen = low_bits(count - first);
#pragma unroll
    for (int bit = 0; bit < 32 && first + bit < kNumbers / 2; ++bit) {
      float& score = s[(first + bit) / 2 * 4 + 2 * r + bit % 2];
      if (!(seen & (1u << bit))) score = -INFINITY;
    }
  }
}

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
  softmax.finish_first_maximum();
#pragma unroll
  for (int k = 0; k < Softmax::kPieces; ++k) softmax.exponential_piece(k);
  softmax.finish_sum();
  softmax.set_limits();
  pin(softmax.s);
}

}  // namespace kymo::flash

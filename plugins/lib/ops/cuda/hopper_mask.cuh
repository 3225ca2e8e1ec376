// SPDX-License-Identifier: Apache-2.0
// Masks on the accumulators of one warpgroup. A thread's elements of a row (columns 8 j + 2 (lane % 4) and the next)
// are bits of a word: the compiler then turns seven bits into predicates at once, whereas comparing columns takes one
// or two instructions each.
#pragma once
#include "hopper.cuh"

namespace kymo::flash {

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

}  // namespace kymo::flash

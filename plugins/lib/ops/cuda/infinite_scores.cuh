// SPDX-License-Identifier: Apache-2.0
// Recomputes infinite scores of floats, which the three TF32 MMAs of multiply_rows_float() turn into NaN.
#pragma once
#include "float_tiles.cuh"

namespace kymo::flash {

/// Whether any score of the warp is NaN.
template <int kM, int kN>
__device__ __forceinline__ bool any_nan(const float (&s)[kM][kN][4]) {
  float zero = 0.f;  // stays 0 except for infinities and NaN; the caller excludes infinities
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) zero = fmaf(s[m][n][e], 0.f, zero);
  return __any_sync(kWholeWarp, zero != 0.f);
}

/// Scores with an infinite operand came out as NaN, because the split halves of an infinity cancel. A single TF32 MMA
/// with the unsplit operands gives the correct infinity or NaN. Other scores are unchanged.
template <int D, int kM, int kN>
__device__ __forceinline__ void multiply_rows_once(float (&s)[kM][kN][4], uint32_t a_tile, int a_row, uint32_t b_tile) {
  constexpr int kBytes = TileRow<float, D>::kBytes;
  const int lane = opaque(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const auto number = [&](uint32_t tile, int row, int column) {
    return tf32(load_shared(tile + row * kBytes + (((column / 4) ^ (row & 7)) << 4) + column % 4 * 4));
  };
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      float once[4] = {};
#pragma unroll 1
      for (int k = 0; k < D; k += 8) {
        const int row = a_row + 16 * m + g, column = k + t;
        const uint32_t a[4] = {number(a_tile, row, column), number(a_tile, row + 8, column),
                               number(a_tile, row, column + 4), number(a_tile, row + 8, column + 4)};
        multiply_tf32(once, a, number(b_tile, 8 * n + g, column), number(b_tile, 8 * n + g, column + 4));
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] = isnan(s[m][n][e]) ? once[e] : s[m][n][e];
    }
}

}  // namespace kymo::flash

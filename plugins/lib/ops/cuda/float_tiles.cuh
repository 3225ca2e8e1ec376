// SPDX-License-Identifier: Apache-2.0
// The two MMAs of tiles.cuh for floats, each as three TF32 MMAs: (A + a)(B + b) = AB + Ab + aB; ab is below the
// rounding error of fp32.
//
// Tensor cores truncate when they add to an accumulator, always toward zero, so that long sums drift: the relative
// error grows with the number of MMAs instead of its square root. Therefore a few k steps start from zero, with the
// small terms Ab and aB first, whose truncation is negligible against AB. Their sums are added outside the tensor cores
// with round-to-nearest (Ootomo and Yokota 2022).
//
// ldmatrix cannot transpose 32-bit elements. Along the columns of B, a thread therefore reads kVector neighboring
// elements of a row at once, and column x of MMA tile j (of the kVector tiles of a group) represents column kVector x +
// j of the group:
//
//   kVector 4, a group of 32 columns: tile 0: 0 4 8 .. 28 | tile 1: 1 5 9 .. 29 | tile 2: 2 6 .. 30 | tile 3: 3 7 .. 31
//
// The order of k within a step of eight is free: index t stands for row 2t and t + 4 for row 2t + 1, as in P's
// accumulator.
#pragma once
#include "tiles.cuh"

namespace kymo::flash {

/// x = big + rest, where `big` has the bits of x that TF32 holds, rounded to nearest. Takes two instructions instead of
/// the four of cvt.rna.tf32, which handles NaN: here, NaN may be lost in `big` but is then in `rest`. `rest` is passed
/// to the tensor cores unmodified; they truncate it.
struct Halves {
  uint32_t big, rest;
};
__device__ __forceinline__ Halves halves(uint32_t x) {
  const uint32_t big = (x + 0x1000u) & 0xffffe000u;
  return {big, __float_as_uint(__uint_as_float(x) - __uint_as_float(big))};
}
template <int kCount>
__device__ __forceinline__ void halve(const uint32_t (&x)[kCount], uint32_t (&big)[kCount], uint32_t (&rest)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const Halves h = halves(x[i]);
    big[i] = h.big, rest[i] = h.rest;
  }
}

/// s = A B^T: kM * 16 rows of A from a_row on, the first kN * 8 rows of B. kExchanged: bitwise equal to the transpose
/// of B A^T. An infinite operand gives NaN (its rest is inf - inf): see multiply_rows_once().
template <int D, int kM, int kN, bool kExchanged>
__device__ __forceinline__ void multiply_rows_float(float (&s)[kM][kN][4], uint32_t a_tile, int a_row,
                                                    uint32_t b_tile) {
  static_assert(kN % 2 == 0, "B is read 16 rows at a time");
  constexpr int kBytes = TileRow<float, D>::kBytes, kChunk = 2, kUnroll = kM * kN < 4 ? 2 : 1;
  const int lane = opaque(threadIdx.x) % 32, in_eight = lane & 7;
  const uint32_t a_from = a_tile + (a_row + (lane & 15)) * kBytes, a_swizzle = ((lane >> 4) ^ in_eight) << 4;
  const uint32_t b_from = b_tile + (in_eight + ((lane >> 4) << 3)) * kBytes, b_swizzle = (((lane >> 3) & 1) ^ in_eight)
                                                                                         << 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] = 0.f;
#pragma unroll kUnroll
  for (int first = 0; first < D / 8; first += kChunk) {
    uint32_t a_big[kChunk][kM][4], a_rest[kChunk][kM][4];
#pragma unroll
    for (int k = 0; k < kChunk; ++k)
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        uint32_t a[4];
        load_matrices(a, a_from + m * 16 * kBytes + (first + k) / 4 * 128 + (a_swizzle ^ ((first + k) % 4 * 32)));
        halve(a, a_big[k][m], a_rest[k][m]);
      }
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t b_big[kChunk][4],
          b_rest[kChunk][4];  // rows 0..7: first, second half of the 32 bytes; rows 8..15 likewise
#pragma unroll
      for (int k = 0; k < kChunk; ++k) {
        uint32_t b[4];
        load_matrices(b, b_from + n * 8 * kBytes + (first + k) / 4 * 128 + (b_swizzle ^ ((first + k) % 4 * 32)));
        halve(b, b_big[k], b_rest[k]);
      }
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int h = 0; h < 4; h += 2) {
          float sum[4] = {};
#pragma unroll
          for (int k = 0; k < kChunk; ++k) {
            if constexpr (kExchanged) multiply_tf32(sum, a_big[k][m], b_rest[k][h], b_rest[k][h + 1]);
            multiply_tf32(sum, a_rest[k][m], b_big[k][h], b_big[k][h + 1]);
            if constexpr (!kExchanged) multiply_tf32(sum, a_big[k][m], b_rest[k][h], b_rest[k][h + 1]);
          }
#pragma unroll
          for (int k = 0; k < kChunk; ++k) multiply_tf32(sum, a_big[k][m], b_big[k][h], b_big[k][h + 1]);
#pragma unroll
          for (int e = 0; e < 4; ++e) s[m][n + h / 2][e] += sum[e];
        }
    }
  }
}

/// c += P B for kC * 8 columns of B from `column` on (a multiple of 32). P (kM * 16 x kN * 8) is in registers, in the
/// accumulator layout.
template <int D, int kVector, int kM, int kN, int kC>
__device__ __forceinline__ void multiply_columns_float(float (&c)[kM][kC][4], const float (&p)[kM][kN][4],
                                                       uint32_t b_tile, int column, int number) {
  static_assert(kVector == 2 || kVector == 4);
  constexpr int kBytes = TileRow<float, D>::kBytes,
                kChunk = kM * D > 128       ? (kN < 4 ? 2 : 1)
                         : kN < 4 || kM > 1 ? 2
                                            : 4,
                kChunks = kVector * 8 / 4;  // 16-byte chunks in a group
  const int lane = opaque(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const uint32_t chunk = kVector == 4 ? g : g >> 1, inside = kVector == 4 ? 0 : (g & 1) * 8;
  const uint32_t from = b_tile + 2 * t * kBytes + column * 4 + inside;
#pragma unroll
  for (int first = 0; first < kN; first += kChunk) {
    uint32_t a_big[kChunk][kM][4], a_rest[kChunk][kM][4];
#pragma unroll
    for (int k = 0; k < kChunk; ++k)
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        const float (&own)[4] = p[m][first + k];
        const uint32_t a[4] = {__float_as_uint(own[0]), __float_as_uint(own[2]), __float_as_uint(own[1]),
                               __float_as_uint(own[3])};
        halve(a, a_big[k][m], a_rest[k][m]);
      }
#pragma unroll
    for (int n = 0; n < kC; n += kVector) {
      end_block(number, first * kC + n);
      const uint32_t at = chunk + n / kVector * kChunks, past = n / 4 * 128;
      float sum[kVector][kM][4] = {};
#pragma unroll
      for (int k = 0; k < kChunk; ++k) {
        const uint32_t rows = from + 8 * (first + k) * kBytes + past;
        uint32_t even[kVector], odd[kVector], even_big[kVector], odd_big[kVector], even_rest[kVector],
            odd_rest[kVector];
        load_numbers(even, rows + (((at & 7) ^ (2 * t)) << 4));
        load_numbers(odd, rows + kBytes + (((at & 7) ^ (2 * t + 1)) << 4));
        halve(even, even_big, even_rest);
        halve(odd, odd_big, odd_rest);
#pragma unroll
        for (int j = 0; j < kVector; ++j)
#pragma unroll
          for (int m = 0; m < kM; ++m) {
            multiply_tf32(sum[j][m], a_rest[k][m], even_big[j], odd_big[j]);
            multiply_tf32(sum[j][m], a_big[k][m], even_rest[j], odd_rest[j]);
            multiply_tf32(sum[j][m], a_big[k][m], even_big[j], odd_big[j]);
          }
      }
#pragma unroll
      for (int j = 0; j < kVector; ++j)
#pragma unroll
        for (int m = 0; m < kM; ++m)
#pragma unroll
          for (int e = 0; e < 4; ++e) c[m][n + j][e] += sum[j][m][e];
    }
  }
}

/// Stores row `r` (0: g, 1: g + 8) of the result of multiply_columns_float, times `factor`, to a row in global memory.
/// Elements from `left` on are outside the tensor.
template <int kVector, bool kAdds, int kC>
__device__ __forceinline__ void store_columns_float(float* to, const float (&c)[kC][4], int r, float factor, int left) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < kC; n += kVector)
#pragma unroll
    for (int i = 0; i < kVector / 2; ++i) {  // four neighboring elements each
      const int at = 8 * n + 2 * kVector * t + 4 * i;
      if (at >= left) continue;
      float v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) v[k] = c[n + k % kVector][2 * r + (kVector == 4 ? i : k / 2)] * factor;
      if constexpr (kAdds)
        add_four(to + at, v[0], v[1], v[2], v[3]);
      else
        *reinterpret_cast<float4*>(to + at) = make_float4(v[0], v[1], v[2], v[3]);
    }
}

// ---------------------------------------------------------------- both element types

template <class T, int D, bool kExchanged, int kM, int kN>
__device__ __forceinline__ void scores(float (&s)[kM][kN][4], uint32_t a_tile, int a_row, uint32_t b_tile) {
  if constexpr (sizeof(T) == 4)
    multiply_rows_float<D, kM, kN, kExchanged>(s, a_tile, a_row, b_tile);
  else
    multiply_rows<T, D>(s, a_tile, a_row, b_tile);
}
/// number: any value >= 0 that is uniform across threads (see end_block).
template <class T, int D, int kVector, int kM, int kN, int kC>
__device__ __forceinline__ void accumulate(float (&c)[kM][kC][4], const float (&p)[kM][kN][4], uint32_t b_tile,
                                           int column, int number) {
  if constexpr (sizeof(T) == 4)
    multiply_columns_float<D, kVector>(c, p, b_tile, column, number);
  else
    multiply_columns<T, D>(c, p, b_tile, column);
}
/// kAdds (floats): add to the values in memory.
template <class T, int kVector, bool kAdds = false, int kC>
__device__ __forceinline__ void store_columns(T* to, const float (&c)[kC][4], int r, float factor, int left) {
  if constexpr (sizeof(T) == 4) {
    store_columns_float<kVector, kAdds>(to, c, r, factor, left);
  } else {
#pragma unroll
    for (int n = 0; n < kC; ++n)
      if (8 * n < left)
        *reinterpret_cast<uint32_t*>(to + 8 * n + threadIdx.x % 4 * 2) =
            pack<T>(c[n][2 * r] * factor, c[n][2 * r + 1] * factor);
  }
}

}  // namespace kymo::flash

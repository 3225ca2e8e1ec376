// SPDX-License-Identifier: Apache-2.0
// Tiles of the portable kernels: rows of D elements in shared memory, and the two products that attention takes of them.
//
// A row is kBytes = D * sizeof(T) bytes, cut into chunks of 16 bytes. Chunk c of row r lies at place c ^ (r % 8) of its row, so
// that eight rows of one column of chunks (what ldmatrix reads at a time) touch all 32 banks once:
//
//   row 0 | 0 1 2 3 4 5 6 7 |      row 2 | 2 3 0 1 6 7 4 5 |      row 7 | 7 6 5 4 3 2 1 0 |
//
//   S  = A B^T   multiply_rows:    A and B both row by row; k runs along the rows of both
//   C += P B     multiply_columns: P from registers, where S = A B^T left it; k runs down the rows of B
//
// Tensor cores cut off what does not fit an accumulator, always towards zero, so that long sums in them drift: the relative error grows
// with the number of products instead of its root. In 16 bits that is nothing; for floats a few steps of k begin at zero and are added
// outside, to nearest (Ootomo and Yokota 2022).
#pragma once
#include "ptx.cuh"

namespace kymo::flash {

template <class T, int D>
struct TileRow {
  static constexpr int kBytes = D * static_cast<int>(sizeof(T));
  static constexpr int kChunks = kBytes / 16, kElements = 16 / static_cast<int>(sizeof(T));  // elements of a chunk
  static_assert(kBytes % 128 == 0, "whole swizzle patterns");
};

/// Starts the copies of kRows rows from `first` on. Rows from rows_left on and elements from d on become zero.
/// A thread keeps to one chunk column, so that one pointer and one step serve all its copies.
template <class T, int D, int kRows, int kThreads>
__device__ __forceinline__ void copy_rows(uint32_t tile, const T* first, int64_t row_stride, int rows_left, int d) {
  using Row = TileRow<T, D>;
  constexpr int kStep = kThreads / Row::kChunks;  // rows that all threads copy at once
  static_assert(kThreads % Row::kChunks == 0 && kRows % kStep == 0);
  const int row = static_cast<int>(threadIdx.x) / Row::kChunks, chunk = static_cast<int>(threadIdx.x) % Row::kChunks;
  const bool inside = chunk * Row::kElements < d;
  const T* from = first + row * row_stride + chunk * Row::kElements;
#pragma unroll
  for (int i = 0; i < kRows; i += kStep, from += kStep * row_stride) {
    const bool wanted = inside && row + i < rows_left;
    copy16(tile + (row + i) * Row::kBytes + ((chunk ^ ((row + i) & 7)) << 4), wanted ? from : first, wanted);
  }
}

/// s = A B^T: kM * 16 rows of A from a_row on, the first kN * 8 rows of B.
template <class T, int D, int kM, int kN>
__device__ __forceinline__ void multiply_rows(float (&s)[kM][kN][4], uint32_t a_tile, int a_row, uint32_t b_tile) {
  static_assert(kN % 2 == 0, "B is read 16 rows at a time");
  constexpr int kBytes = TileRow<T, D>::kBytes;
  const int lane = threadIdx.x % 32, in_eight = lane & 7;
  const uint32_t a_from = a_tile + (a_row + (lane & 15)) * kBytes, a_turn = ((lane >> 4) ^ in_eight) << 4;
  const uint32_t b_from = b_tile + (in_eight + ((lane >> 4) << 3)) * kBytes, b_turn = (((lane >> 3) & 1) ^ in_eight) << 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] = 0.f;
  constexpr int kChunk = sizeof(T) == 4 && D > 64 ? 2 : 1;
#pragma unroll
  for (int first = 0; first < kBytes / 32; first += kChunk) {
    uint32_t a[kChunk][kM][4];
#pragma unroll
    for (int k = 0; k < kChunk; ++k)
#pragma unroll
      for (int m = 0; m < kM; ++m)
        load_matrices(a[k][m], a_from + m * 16 * kBytes + (first + k) / 4 * 128 + (a_turn ^ ((first + k) % 4 * 32)));
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t b[kChunk][4];  // rows 0..7: first, second half of the 32 bytes; rows 8..15 likewise
#pragma unroll
      for (int k = 0; k < kChunk; ++k)
        load_matrices(b[k], b_from + n * 8 * kBytes + (first + k) / 4 * 128 + (b_turn ^ ((first + k) % 4 * 32)));
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if constexpr (kChunk > 1) {
            float sum[4] = {};
#pragma unroll
            for (int k = 0; k < kChunk; ++k) multiply<T>(sum, a[k][m], b[k][2 * half], b[k][2 * half + 1]);
#pragma unroll
            for (int e = 0; e < 4; ++e) s[m][n + half][e] += sum[e];
          } else {
            multiply<T>(s[m][n + half], a[0][m], b[0][2 * half], b[0][2 * half + 1]);
          }
        }
    }
  }
}

/// c += P B for the kC * 8 columns of B from `column` on; P (kM * 16 x kN * 8) is rounded to T.
template <class T, int D, int kM, int kN, int kC>
__device__ __forceinline__ void multiply_columns(float (&c)[kM][kC][4], const float (&p)[kM][kN][4], uint32_t b_tile, int column) {
  static_assert(kN % 2 == 0 && kC % 2 == 0, "16 rows and 16 columns at a time");
  constexpr int kBytes = TileRow<T, D>::kBytes;
  const int lane = threadIdx.x % 32;
  const uint32_t b_from = b_tile + column * 2 + (lane & 15) * kBytes, b_turn = ((lane >> 4) ^ (lane & 7)) << 4;
#pragma unroll
  for (int k = 0; k < kN / 2; ++k) {
    uint32_t a[kM][4];  // the accumulator layout of two 16x8 pieces is the operand layout of one of 16x16
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int i = 0; i < 4; ++i) a[m][i] = pack<T>(p[m][2 * k + i / 2][i % 2 * 2], p[m][2 * k + i / 2][i % 2 * 2 + 1]);
#pragma unroll
    for (int n = 0; n < kC; n += 2) {
      uint32_t b[4];  // columns 0..7: first, second eight rows; columns 8..15 likewise
      load_matrices_transposed(b, b_from + k * 16 * kBytes + n / 8 * 128 + (b_turn ^ (n % 8 * 16)));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiply<T>(c[m][n], a[m], b[0], b[1]);
        multiply<T>(c[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

/// The same for floats. ldmatrix cannot transpose 32-bit elements, so B is read element by element, and the order of k inside a
/// step of eight is free: k index t stands for row 2t and t + 4 for row 2t + 1, which is where P's accumulator has them.
template <int D, int kM, int kN, int kC>
__device__ __forceinline__ void multiply_columns_float(float (&c)[kM][kC][4], const float (&p)[kM][kN][4], uint32_t b_tile, int column) {
  constexpr int kBytes = TileRow<float, D>::kBytes;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  constexpr int kChunk = kN < 4 ? kN : 4;
#pragma unroll
  for (int first = 0; first < kN; first += kChunk) {
#pragma unroll
    for (int n = 0; n < kC; ++n) {
      const uint32_t chunk = (2 * n + (g >> 2)) << 4, past = n / 4 * 128;
      float sum[kM][4] = {};
#pragma unroll
      for (int k = first; k < first + kChunk; ++k) {
        const uint32_t even = b_tile + (8 * k + 2 * t) * kBytes + column * 4 + (g & 3) * 4;
        const uint32_t b0 = __float_as_uint(load_shared(even + past + ((chunk & 127) ^ (2 * t << 4))));
        const uint32_t b1 = __float_as_uint(load_shared(even + kBytes + past + ((chunk & 127) ^ ((2 * t + 1) << 4))));
#pragma unroll
        for (int m = 0; m < kM; ++m) {
          const uint32_t a[4] = {__float_as_uint(p[m][k][0]), __float_as_uint(p[m][k][2]), __float_as_uint(p[m][k][1]),
                                 __float_as_uint(p[m][k][3])};
          multiply<float>(sum[m], a, b0, b1);
        }
      }
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e) c[m][n][e] += sum[m][e];
    }
  }
}
template <class T, int D, int kM, int kN, int kC>
__device__ __forceinline__ void accumulate(float (&c)[kM][kC][4], const float (&p)[kM][kN][4], uint32_t b_tile, int column) {
  if constexpr (sizeof(T) == 4)
    multiply_columns_float<D>(c, p, b_tile, column);
  else
    multiply_columns<T, D>(c, p, b_tile, column);
}

/// Two neighbours of a row of T in global memory.
template <class T>
__device__ __forceinline__ void store_pair(T* to, float first, float second) {
  if constexpr (sizeof(T) == 4)
    *reinterpret_cast<float2*>(to) = make_float2(first, second);
  else
    *reinterpret_cast<uint32_t*>(to) = pack<T>(first, second);
}

}  // namespace kymo::flash

// SPDX-License-Identifier: Apache-2.0
// Tiles of the portable kernels: rows of D elements in shared memory, and the two MMAs of attention on them.
//
// A row has kBytes = D * sizeof(T) bytes in chunks of 16 bytes. Chunk c of row r is stored at position c ^ (r % 8) of
// its row, so that eight rows of one chunk column (read by one ldmatrix) cover all 32 banks once:
//
//   row 0 | 0 1 2 3 4 5 6 7 |      row 2 | 2 3 0 1 6 7 4 5 |      row 7 | 7 6 5 4 3 2 1 0 |
//
//   S  = A B^T   multiply_rows:    A and B both row-major; k runs along the rows of both
//   C += P B     multiply_columns: P in registers, in the accumulator layout of S; k runs down the rows of B
//
// float_tiles.cuh has the same MMAs for floats.
#pragma once
#include "ptx.cuh"

namespace kymo::flash {

template <class T, int D>
struct TileRow {
  static constexpr int kBytes = D * static_cast<int>(sizeof(T));
  static constexpr int kChunks = kBytes / 16, kElements = 16 / static_cast<int>(sizeof(T));  // elements of a chunk
  static_assert(kBytes % 128 == 0, "rows must consist of whole swizzle patterns");
};

/// Starts the copies of kRows rows from `first` on. Rows from rows_left on and elements from d on are set to zero. Each
/// thread stays in one chunk column, so that one pointer and one stride serve all its copies.
template <class T, int D, int kRows, int kThreads>
__device__ __forceinline__ void copy_rows(uint32_t tile, const T* first, int64_t row_stride, int rows_left, int d) {
  using Row = TileRow<T, D>;
  constexpr int kStep = kThreads / Row::kChunks;  // rows that all threads copy in one step
  static_assert(kThreads % Row::kChunks == 0 && kRows % kStep == 0);
  constexpr int kUnroll = sizeof(T) == 4 ? 1 : kRows / kStep;  // floats leave too few registers for many addresses
  const int thread = static_cast<int>(opaque(threadIdx.x)), row = thread / Row::kChunks, chunk = thread % Row::kChunks;
  const bool inside = chunk * Row::kElements < d;
  const T* from = first + row * row_stride + chunk * Row::kElements;
#pragma unroll kUnroll
  for (int i = 0; i < kRows; i += kStep, from += kStep * row_stride) {
    const bool valid = inside && row + i < rows_left;
    copy16(tile + (row + i) * Row::kBytes + ((chunk ^ ((row + i) & 7)) << 4), valid ? from : first, valid);
  }
}

/// s = A B^T: kM * 16 rows of A from a_row on, the first kN * 8 rows of B.
template <class T, int D, int kM, int kN>
__device__ __forceinline__ void multiply_rows(float (&s)[kM][kN][4], uint32_t a_tile, int a_row, uint32_t b_tile) {
  static_assert(kN % 2 == 0, "B is read 16 rows at a time");
  constexpr int kBytes = TileRow<T, D>::kBytes;
  const int lane = threadIdx.x % 32, in_eight = lane & 7;
  const uint32_t a_from = a_tile + (a_row + (lane & 15)) * kBytes, a_swizzle = ((lane >> 4) ^ in_eight) << 4;
  const uint32_t b_from = b_tile + (in_eight + ((lane >> 4) << 3)) * kBytes, b_swizzle = (((lane >> 3) & 1) ^ in_eight)
                                                                                         << 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] = 0.f;
#pragma unroll
  for (int k = 0; k < kBytes / 32; ++k) {
    uint32_t a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m)
      load_matrices(a[m], a_from + m * 16 * kBytes + k / 4 * 128 + (a_swizzle ^ (k % 4 * 32)));
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t b[4];  // rows 0..7: first, second half of the 32 bytes; rows 8..15 likewise
      load_matrices(b, b_from + n * 8 * kBytes + k / 4 * 128 + (b_swizzle ^ (k % 4 * 32)));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiply<T>(s[m][n], a[m], b[0], b[1]);
        multiply<T>(s[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

/// c += P B for the kC * 8 columns of B from `column` on; P (kM * 16 x kN * 8) is rounded to T.
template <class T, int D, int kM, int kN, int kC>
__device__ __forceinline__ void multiply_columns(float (&c)[kM][kC][4], const float (&p)[kM][kN][4], uint32_t b_tile,
                                                 int column) {
  static_assert(kN % 2 == 0 && kC % 2 == 0, "16 rows and 16 columns at a time");
  constexpr int kBytes = TileRow<T, D>::kBytes;
  const int lane = threadIdx.x % 32;
  const uint32_t b_from = b_tile + column * 2 + (lane & 15) * kBytes, b_swizzle = ((lane >> 4) ^ (lane & 7)) << 4;
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
      load_matrices_transposed(b, b_from + k * 16 * kBytes + n / 8 * 128 + (b_swizzle ^ (n % 8 * 16)));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiply<T>(c[m][n], a[m], b[0], b[1]);
        multiply<T>(c[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

}  // namespace kymo::flash

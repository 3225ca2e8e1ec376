// SPDX-License-Identifier: Apache-2.0
// Accumulation of dQ in the fp32 dK/dV kernel, which reduces the seven MMAs of the portable backward to five.
//
// The dK/dV kernel has dS^T of its keys and a streamed query tile, distributed over its warps by keys. dQ += dS K sums
// over keys, so dS goes through shared memory, transposed, into the buffer of the tile's dO, which is no longer needed.
// Each warp computes 16 queries and 32 columns at a time:
//
//   dS in shared memory: one row per query, in the layout of TileRow<float, kOwn>; of eight keys those of even number
//   first, so that index t of a k step is key 2t and t + 4 is key 2t + 1, as in multiply_columns_float()
//
// Contributions are added to dQ in global memory in arbitrary block order: its last bits differ from call to call.
#pragma once
#include "float_tiles.cuh"

namespace kymo::flash {

/// Positions in ds_tile of a thread's elements of an MMA result, for the warp's keys from own_row on.
template <int kOwn>
struct TransposedAddresses {
  uint32_t from, chunk, t;

  __device__ __forceinline__ TransposedAddresses(uint32_t ds_tile, int own_row) {
    const uint32_t lane = opaque(threadIdx.x) % 32, g = lane / 4;
    t = lane % 4;
    from = ds_tile + 2 * t * TileRow<float, kOwn>::kBytes + (g >> 1) * 4, chunk = own_row / 4 + (g & 1);
  }
  __device__ __forceinline__ uint32_t at(int m, int j, int e) const {
    const uint32_t swizzled = (chunk + 4 * m + e / 2 * 2) ^ (2 * t + e % 2);  // row index modulo 8
    return from + (8 * j + e % 2) * TileRow<float, kOwn>::kBytes + (swizzled << 4);
  }
};
/// Stores dS^T of a warp's keys, from own_row on, to ds_tile; zeros if no query sees them.
template <int kOwn, int kM, int kN>
__device__ __forceinline__ void store_transposed(uint32_t ds_tile, const float (&ds)[kM][kN][4], int own_row,
                                                 bool seen) {
  const TransposedAddresses<kOwn> addresses(ds_tile, own_row);
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int j = 0; j < kN; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) store_number(addresses.at(m, j, e), seen ? ds[m][j][e] : 0.f);
}

/// dQ += scale dS K for the rows of ds_tile. `rows` points at the first of them, of which rows_left are inside the
/// tensor. number: any value >= 0 that is uniform across threads (see end_block).
template <class Tiles>
__device__ __forceinline__ void add_dq_partial(float* rows, int64_t row_stride, int rows_left, int d, float scale,
                                               uint32_t ds_tile, uint32_t k_tile, int number) {
  constexpr int kOwn = Tiles::kOwn, kBytes = TileRow<float, kOwn>::kBytes, kKeyBytes = Tiles::kRowBytes, kChunk = 4;
  constexpr int kRowTiles = Tiles::kStream / 16,
                kAtOnce = Tiles::kWarps / kRowTiles * 32;  // columns of all warps together
  static_assert(Tiles::kD % kAtOnce == 0 && kOwn % (8 * kChunk) == 0 && kOwn * 4 <= Tiles::kRowBytes);
  const int thread = opaque(threadIdx.x), lane = thread % 32, warp = thread / 32, g = lane / 4, t = lane % 4;
  const int first_row = warp % kRowTiles * 16, first_column = warp / kRowTiles * 32;
  const uint32_t a_from = ds_tile + (first_row + (lane & 15)) * kBytes, a_swizzle = ((lane >> 4) ^ (lane & 7)) << 4;
#pragma unroll 1
  for (int pass = 0; pass < Tiles::kD / kAtOnce; ++pass) {
    const int column = first_column + pass * kAtOnce;
    const uint32_t even_from = k_tile + 2 * t * kKeyBytes + column * 4 + ((g ^ (2 * t)) << 4);
    const uint32_t odd_from = k_tile + (2 * t + 1) * kKeyBytes + column * 4 + ((g ^ (2 * t + 1)) << 4);
    float dq[4][4] = {};  // of 32 columns: tile j has column 8t + j and, as the second of a pair, 8t + 4 + j
#pragma unroll
    for (int first = 0; first < kOwn / 8; first += kChunk) {
      float sum[4][4] = {};
#pragma unroll
      for (int k = first; k < first + kChunk; ++k) {
        end_block(number, k);
        uint32_t a[4], a_big[4], a_rest[4], even[4], odd[4], even_big[4], odd_big[4], even_rest[4], odd_rest[4];
        load_matrices(a, a_from + k / 4 * 128 + (a_swizzle ^ (k % 4 * 32)));
        load_numbers(even, even_from + 8 * k * kKeyBytes);
        load_numbers(odd, odd_from + 8 * k * kKeyBytes);
        halve(a, a_big, a_rest);
        halve(even, even_big, even_rest);
        halve(odd, odd_big, odd_rest);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          multiply_tf32(sum[j], a_rest, even_big[j], odd_big[j]);
          multiply_tf32(sum[j], a_big, even_rest[j], odd_rest[j]);
          multiply_tf32(sum[j], a_big, even_big[j], odd_big[j]);
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) dq[j][e] += sum[j][e];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + g + 8 * r;
      float* to = rows + row * row_stride + column + 8 * t;
      if (row >= rows_left || column + 8 * t >= d) continue;
#pragma unroll
      for (int i = 0; i < 2; ++i)
        add_four(to + 4 * i, dq[0][2 * r + i] * scale, dq[1][2 * r + i] * scale, dq[2][2 * r + i] * scale,
                 dq[3][2 * r + i] * scale);
    }
  }
}

}  // namespace kymo::flash

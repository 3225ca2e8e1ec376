// SPDX-License-Identifier: Apache-2.0
// Output rows of the Hopper forward: from a warpgroup's accumulators to global memory.
#pragma once
#include "hopper.cuh"

namespace kymo::flash {

/// Stores rows of O from accumulators: a 4x4 transpose within each quad gives each thread 8 adjacent columns (16
/// bytes).
template <class T, int kD>
__device__ __forceinline__ void store_rows(const float (&o)[kD / 2], const float (&inverse)[2], T* first,
                                           int64_t row_stride, int rows_left, int d) {
  const int quad = threadIdx.x % 4;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    T* to = first + 8 * r * row_stride + quad * 8;
#pragma unroll
    for (int g = 0; g < kD / 32; ++g) {
      uint32_t a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int e = (4 * g + i) * 4 + 2 * r;
        a[i] = pack<T>(o[e] * inverse[r], o[e + 1] * inverse[r]);
      }
      const bool odd = quad & 1, high = quad & 2;
      uint32_t x = __shfl_xor_sync(kWholeWarp, odd ? a[0] : a[1], 1),
               y = __shfl_xor_sync(kWholeWarp, odd ? a[2] : a[3], 1);
      b[0] = odd ? x : a[0], b[1] = odd ? a[1] : x, b[2] = odd ? y : a[2], b[3] = odd ? a[3] : y;
      x = __shfl_xor_sync(kWholeWarp, high ? b[0] : b[2], 2), y = __shfl_xor_sync(kWholeWarp, high ? b[1] : b[3], 2);
      const uint4 out = high ? make_uint4(x, y, b[2], b[3]) : make_uint4(b[0], b[1], x, y);
      if (8 * r < rows_left && g * 32 + quad * 8 < d) *reinterpret_cast<uint4*>(to + g * 32) = out;
    }
  }
}

/// Stores rows of a split's unnormalized output: kD fp32 values each.
template <int kD>
__device__ __forceinline__ void store_partial(const float (&o)[kD / 2], float* first, int rows_left) {
  const int quad = threadIdx.x % 4;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (8 * r >= rows_left) break;  // decoding: one row or a few of the tile
#pragma unroll
    for (int j = 0; j < kD / 8; ++j) {
      const int e = 4 * j + 2 * r;
      *reinterpret_cast<float2*>(first + 8 * r * kD + 8 * j + 2 * quad) = make_float2(o[e], o[e + 1]);
    }
  }
}

template <int kCount>
__device__ __forceinline__ void clear(float (&o)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) o[i] = 0.f;
}
/// Zeroes accumulators of rows that see no key (inverse 0), because zero times infinity is NaN.
template <int kCount>
__device__ __forceinline__ void clear_unseen(float (&o)[kCount], const float (&inverse)[2]) {
  if (inverse[0] != 0.f && inverse[1] != 0.f) return;
#pragma unroll
  for (int i = 0; i < kCount; ++i) o[i] = inverse[i / 2 % 2] == 0.f ? 0.f : o[i];
}

/// Two rows that see no key: o = 0, lse = -inf.
template <class T>
__device__ __forceinline__ void store_nothing_seen(T* first, int64_t row_stride, float* lse, int rows_left, int d) {
  const int quad = threadIdx.x % 4;
#pragma unroll 1
  for (int r = 0; r < 16 && r < rows_left; r += 8) {
    if (quad == 0) lse[r] = -INFINITY;
    for (int column = quad * 8; column < d; column += 32)
      *reinterpret_cast<uint4*>(first + r * row_stride + column) = make_uint4(0, 0, 0, 0);
  }
}

}  // namespace kymo::flash

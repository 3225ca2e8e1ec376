// SPDX-License-Identifier: Apache-2.0
// Online softmax on the accumulators of one warpgroup, in pieces of 16 columns, so that the caller can place a wait
// between them: kPieces maxima, finish_maximum, kPieces exponentials (s becomes exp2(s c - maximum c)), finish_sum. A
// thread holds two rows (r = 0, 1, eight apart): s[4 j + 2 r] and s[4 j + 2 r + 1] are columns 8 j + 2 (lane % 4) and
// the next.
#pragma once
#include "hopper.cuh"

namespace kymo::flash {

/// kHeld: the pieces keep their source order, regardless of the compiler's instruction scheduling.
template <int kColumns, bool kHeld>
struct PieceSoftmax {
  static constexpr int kPieces = kColumns / 16;
  float s[kColumns / 2];
  float top[2], sum[2];  // running row maxima and sums (of this thread's columns)
  float correction[2];   // factor for the previous outputs
  float most[2], minus[2], partial[4];
  float c;  // scale times log2(e)

  __device__ __forceinline__ void begin() { top[0] = top[1] = -INFINITY, sum[0] = sum[1] = 0.f; }

  /// Non-negative floats compare like integers, and Hopper has a three-way integer maximum (DPX): half the
  /// instructions. Negative floats compare in reverse; finish_maximum corrects tiles in which some row's maximum is
  /// negative.
  __device__ __forceinline__ void maximum_piece(int k) {
    if (k == 0) most[0] = s[0], most[1] = s[2];
#pragma unroll
    for (int j = 2 * k; j < 2 * k + 2; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        most[r] = __int_as_float(__vimax3_s32(__float_as_int(most[r]), __float_as_int(s[4 * j + 2 * r]),
                                              __float_as_int(s[4 * j + 2 * r + 1])));
    if (kHeld) pin(most);
  }
  __device__ __forceinline__ void finish_maximum() {
    float now[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int v = __float_as_int(most[r]);
      v = max(v, __shfl_xor_sync(kWholeWarp, v, 1));
      v = max(v, __shfl_xor_sync(kWholeWarp, v, 2));
      now[r] = __int_as_float(v);
    }
    if (__any_sync(kWholeWarp, (__float_as_int(now[0]) | __float_as_int(now[1])) < 0)) {
      now[0] = s[0], now[1] = s[2];
#pragma unroll
      for (int i = 0; i < kColumns / 2; ++i) now[i / 2 % 2] = fmaxf(now[i / 2 % 2], s[i]);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        now[r] = fmaxf(now[r], __shfl_xor_sync(kWholeWarp, now[r], 1));
        now[r] = fmaxf(now[r], __shfl_xor_sync(kWholeWarp, now[r], 2));
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float highest = fmaxf(now[r], top[r]);
      minus[r] = highest == -INFINITY ? 0.f : -highest * c;  // -inf: every column so far is masked
      correction[r] = exp2_fast(fmaf(top[r], c, minus[r]));
      top[r] = highest;
      partial[r] = sum[r] * correction[r], partial[r + 2] = 0.f;
    }
  }
  __device__ __forceinline__ void add_piece(int k) {
#pragma unroll
    for (int i = 8 * k; i < 8 * k + 8; ++i) partial[i / 2 % 2 + 2 * (i % 2)] += s[i];
  }
  __device__ __forceinline__ void exponential_piece(int k) {
#pragma unroll
    for (int i = 8 * k; i < 8 * k + 8; ++i) s[i] = exp2_fast(fmaf(s[i], c, minus[i / 2 % 2]));
    if constexpr (kHeld) {
      if (k > 0) add_piece(k - 1);  // one piece behind, to hide the latency of exp2
#pragma unroll
      for (int i = 8 * k; i < 8 * k + 8; ++i) asm volatile("" : "+f"(s[i])::"memory");
    } else {
      add_piece(k);
    }
  }
  __device__ __forceinline__ void finish_sum() {
    if (kHeld) add_piece(kPieces - 1);
    sum[0] = partial[0] + partial[2], sum[1] = partial[1] + partial[3];
  }
  /// Sum over all columns of the row; all lanes of the warp must call it.
  __device__ __forceinline__ float row_sum(int r) const {
    float all = sum[r];
    all += __shfl_xor_sync(kWholeWarp, all, 1);
    all += __shfl_xor_sync(kWholeWarp, all, 2);
    return all;
  }
  template <class T>
  __device__ __forceinline__ void pack_into(uint32_t (&p)[kColumns / 4]) const {
#pragma unroll
    for (int i = 0; i < kColumns / 4; ++i) p[i] = pack<T>(s[2 * i], s[2 * i + 1]);
  }
};

}  // namespace kymo::flash

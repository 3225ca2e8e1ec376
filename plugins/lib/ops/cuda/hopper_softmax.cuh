// SPDX-License-Identifier: Apache-2.0
// Online softmax on the accumulators of one warpgroup, in pieces of 16 columns, so that the caller can place a wait
// between them: kPieces maxima, finish_maximum, kPieces exponentials (s becomes exp2(s c - reference c)), finish_sum. A
// thread holds two rows (r = 0, 1, eight apart): s[4 j + 2 r] and s[4 j + 2 r + 1] are columns 8 j + 2 (lane % 4) and
// the next.
#pragma once
#include "hopper.cuh"

namespace kymo::flash {

/// The pieces keep their source order, regardless of the compiler's instruction scheduling.
///
/// Exponentials are relative to a reference of the row: its running maximum or, with kLazy, a score that is raised to
/// the running maximum once the exponential of that exceeds 2^8, which is rare after the first tile. Other tiles
/// need no reduction over lanes and no correction of the outputs. Rounded to bf16 or fp16, exponentials up to 2^8 have
/// the same relative error as those up to 1.
template <int kColumns, bool kLazy>
struct PieceSoftmax {
  static constexpr int kPieces = kColumns / 16;
  static constexpr float kLargest = 8;  // base-2 logarithm of the largest exponential with kLazy
  float s[kColumns / 2];
  float reference[2], sum[2];  // of a row; the sum of this thread's columns
  float correction[2];         // factor for the previous outputs, if corrects()
  float minus[2], partial[4];
  float c;  // scale times log2(e)
  // Only one of the two is used:
  float most[2];
  struct {
    float limit[2];      // of scores, above which the reference is raised
    int most[4];         // the greatest of the limit and the tile's scores, as integers
    bool is_below_zero;  // some limit of the warp is
    bool raised;         // by this tile, in some row of the warp
  } lazy;

  __device__ __forceinline__ void begin() {
    reference[0] = reference[1] = -INFINITY, sum[0] = sum[1] = 0.f;
    if constexpr (kLazy) {
      lazy.limit[0] = lazy.limit[1] = -INFINITY, minus[0] = minus[1] = 0.f;
      lazy.is_below_zero = true;
    }
  }
  /// Whether the previous outputs must be multiplied with `correction`.
  __device__ __forceinline__ bool corrects() const { return !kLazy || lazy.raised; }

  /// Non-negative floats compare like integers, and Hopper has a three-way integer maximum (DPX): half the
  /// instructions. Negative floats compare in reverse; maxima_of_rows() corrects tiles in which some row's maximum is
  /// negative.
  __device__ __forceinline__ void maximum_piece(int k) {
    if constexpr (kLazy) return lazy_maximum_piece(k);
    if (k == 0) most[0] = s[0], most[1] = s[2];
#pragma unroll
    for (int j = 2 * k; j < 2 * k + 2; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r) most[r] = __int_as_float(greatest(__float_as_int(most[r]), j, r));
    pin(most);
  }
  /// Two chains per row.
  __device__ __forceinline__ void lazy_maximum_piece(int k) {
    if (k == 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i) lazy.most[i] = __float_as_int(lazy.limit[i % 2]);
    }
#pragma unroll
    for (int j = 2 * k; j < 2 * k + 2; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r) lazy.most[r + 2 * (j % 2)] = greatest(lazy.most[r + 2 * (j % 2)], j, r);
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(lazy.most[i])::"memory");
  }
  __device__ __forceinline__ int greatest(int number, int j, int r) const {
    return __vimax3_s32(number, __float_as_int(s[4 * j + 2 * r]), __float_as_int(s[4 * j + 2 * r + 1]));
  }

  __device__ __forceinline__ void finish_maximum() {
    if constexpr (kLazy) {
#pragma unroll
      for (int r = 0; r < 2; ++r) lazy.most[r] = max(lazy.most[r], lazy.most[r + 2]);
      lazy.raised = lazy.is_below_zero || __any_sync(kWholeWarp, lazy.most[0] != __float_as_int(lazy.limit[0]) ||
                                                                     lazy.most[1] != __float_as_int(lazy.limit[1]));
      if (lazy.raised) raise();
#pragma unroll
      for (int r = 0; r < 2; ++r) partial[r] = sum[r], partial[r + 2] = 0.f;
    } else {
      float now[2];
      maxima_of_rows(now, {__float_as_int(most[0]), __float_as_int(most[1])});
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float highest = fmaxf(now[r], reference[r]);
        minus[r] = highest == -INFINITY ? 0.f : -highest * c;  // -inf: every column so far is masked
        correction[r] = exp2_fast(fmaf(reference[r], c, minus[r]));
        reference[r] = highest;
        partial[r] = sum[r] * correction[r], partial[r + 2] = 0.f;
      }
    }
  }
  /// Of the tile; `most`: this thread's, as integers.
  __device__ __forceinline__ void maxima_of_rows(float (&now)[2], int2 most) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int v = r == 0 ? most.x : most.y;
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
  }
  /// Raises the references of rows with scores above the limit.
  __device__ __forceinline__ void raise() {
    float now[2];
    maxima_of_rows(now, {lazy.most[0], lazy.most[1]});
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float highest = now[r] > lazy.limit[r] ? now[r] : reference[r];
      minus[r] = highest == -INFINITY ? 0.f : -highest * c;
      correction[r] = highest == reference[r] ? 1.f : exp2_fast(fmaf(reference[r], c, minus[r]));
      reference[r] = highest, sum[r] *= correction[r];
      lazy.limit[r] = highest == -INFINITY ? highest : highest + kLargest / c;
    }
    lazy.is_below_zero = __any_sync(kWholeWarp, (__float_as_int(lazy.limit[0]) | __float_as_int(lazy.limit[1])) < 0);
  }
  __device__ __forceinline__ void add_piece(int k) {
#pragma unroll
    for (int i = 8 * k; i < 8 * k + 8; ++i) partial[i / 2 % 2 + 2 * (i % 2)] += s[i];
  }
  __device__ __forceinline__ void exponential_piece(int k) {
#pragma unroll
    for (int i = 8 * k; i < 8 * k + 8; ++i) s[i] = exp2_fast(fmaf(s[i], c, minus[i / 2 % 2]));
    if (k > 0) add_piece(k - 1);  // one piece behind, to hide the latency of exp2
#pragma unroll
    for (int i = 8 * k; i < 8 * k + 8; ++i) asm volatile("" : "+f"(s[i])::"memory");
  }
  __device__ __forceinline__ void finish_sum() {
    add_piece(kPieces - 1);
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

// SPDX-License-Identifier: Apache-2.0
// Online softmax on the accumulators of one warpgroup, in pieces of 16 columns, so that the caller can place a wait
// between them: kPieces maxima, finish_maximum, kPieces exponentials (s becomes exp2(s c - reference c)), finish_sum,
// and set_limits if the tile raised references. A thread holds two rows, eight apart: of row r, s[4 j + 2 r] and
// s[4 j + 2 r + 1] are columns 8 j + 2 (lane % 4) and the next.
#pragma once
#include <algorithm>
#include <cfloat>

#include "hopper.cuh"

namespace kymo::flash {

/// Computed by the host for PieceSoftmax: 0 unless the scale is positive; finite if multiplied by the largest exponent.
inline float inverse_scale(float scale_log2) { return scale_log2 > 0 ? std::min(1 / scale_log2, FLT_MAX / 8) : 0; }

/// The pieces keep their source order until ptxas, which needs order_after().
///
/// Exponentials are relative to a reference of the row, a score that is raised to the running maximum once a score
/// exceeds a limit, which is rare after the first tile. Other tiles need no reduction over lanes and no correction of
/// the outputs. The exponential of a score between the reference and the limit is at most 2^8, and at most the sum of
/// its row so far: that of a score which dominates its row is 1, and is not rounded in bf16 or fp16.
template <int kColumns>
struct PieceSoftmax {
  static constexpr int kPieces = kColumns / 16;
  static constexpr float kLargest = 8;  // base-2 logarithm
  float s[kColumns / 2];
  float reference[2], limit[2], sum[2];  // of a row; the sum of this thread's columns
  bool raised;                           // by the tile, the reference of some row of the warp
  float correction[2];                   // if `raised`, factor for the previous outputs
  float minus[2], partial[4];
  int most[4];               // the greatest of the limit and the tile's scores, as integers
  bool has_negative_limits;  // in some row of the warp
  const float c, inverse_c;  // scale times log2(e); inverse_scale()
  const uint32_t zero;       // 0, which the compiler must not know: order_after()

  __device__ __forceinline__ PieceSoftmax(float scale_log2, float inverse_scale_log2, uint32_t runtime_zero)
      : c(scale_log2), inverse_c(inverse_scale_log2), zero(runtime_zero) {}

  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int r = 0; r < 2; ++r) reference[r] = limit[r] = -INFINITY, sum[r] = 0.f;
  }

  /// Non-negative floats compare like integers, and Hopper has a three-way integer maximum (DPX): half the
  /// instructions. Negative floats compare in reverse; maxima_of_rows() corrects tiles in which some row's maximum is
  /// negative. There are two chains per row.
  __device__ __forceinline__ void maximum_piece(int k) {
    if (k == 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i) most[i] = __float_as_int(limit[i % 2]);
    }
#pragma unroll
    for (int j = 2 * k; j < 2 * k + 2; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        most[r + 2 * (j % 2)] =
            __vimax3_s32(most[r + 2 * (j % 2)], __float_as_int(s[4 * j + 2 * r]), __float_as_int(s[4 * j + 2 * r + 1]));
#pragma unroll
    for (int& number : most) pin(number);
  }
  __device__ __forceinline__ void finish_maximum() {
#pragma unroll
    for (int r = 0; r < 2; ++r) most[r] = max(most[r], most[r + 2]);
    raised = has_negative_limits ||
             __any_sync(kWholeWarp, most[0] != __float_as_int(limit[0]) || most[1] != __float_as_int(limit[1]));
    if (raised) raise();
#pragma unroll
    for (int r = 0; r < 2; ++r) partial[r] = sum[r], partial[r + 2] = 0.f;
  }
  /// The same for the first tile of the rows, whose sums are 0.
  __device__ __forceinline__ void finish_first_maximum() {
    float now[2];
    maxima_of_rows(now, {max(most[0], most[2]), max(most[1], most[3])});
#pragma unroll
    for (int r = 0; r < 2; ++r) set_reference(r, now[r]), partial[r] = partial[r + 2] = 0.f;
  }
  /// Raises the references of rows with scores above the limit.
  __device__ __forceinline__ void raise() {
    float now[2];
    maxima_of_rows(now, {most[0], most[1]});
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float before = reference[r];
      set_reference(r, now[r] > limit[r] ? now[r] : before);
      correction[r] = reference[r] == before ? 1.f : exp2_fast(fmaf(before, c, minus[r]));
      sum[r] *= correction[r];
    }
  }
  /// Sets the limits of all rows, from the sums that contain this tile.
  __device__ __forceinline__ void set_limits() {
#pragma unroll
    for (int r = 0; r < 2; ++r) limit[r] = reference[r] + fminf(fmaxf(__log2f(row_sum(r)), 0.f), kLargest) * inverse_c;
    has_negative_limits = __any_sync(kWholeWarp, (__float_as_int(limit[0]) | __float_as_int(limit[1])) < 0);
  }
  __device__ __forceinline__ void set_reference(int r, float score) {
    reference[r] = score;
    minus[r] = score == -INFINITY ? 0.f : -score * c;  // -inf: every column so far is masked
  }
  /// The maxima of the rows of the tile. `of_thread`: those of this thread's elements, as integers.
  __device__ __forceinline__ void maxima_of_rows(float (&now)[2], int2 of_thread) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int v = r == 0 ? of_thread.x : of_thread.y;
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
  /// The next exponentials follow the wait for outputs, of which these are two. ptxas moves those that do not depend on
  /// any of them before the wait, all or none of them, whatever the order in the source.
  __device__ __forceinline__ void order_after(float output0, float output1) {
    // `r == 0 ? output0 : output1` instead of the array serializes wgmma (C7511).
    const float outputs[2] = {output0, output1};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      uint32_t bits = __float_as_uint(minus[r]);
      or_masked(bits, __float_as_uint(outputs[r]), zero);
      minus[r] = __uint_as_float(bits);
    }
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
    for (int i = 8 * k; i < 8 * k + 8; ++i) pin(s[i]);
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

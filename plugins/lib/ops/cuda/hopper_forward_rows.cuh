// SPDX-License-Identifier: Apache-2.0
// Destination of the rows of a finished query tile (without cross-tile pipelining).
#pragma once
#include "hopper_rows.cuh"
#include "hopper_schedule.cuh"

namespace kymo::flash {

struct HopperForwardOutput {
  Output o;
  float* lse;
  int d;
  float scale_log2, inverse_scale_log2;  // see inverse_scale()
  uint32_t zero = 0;                     // PieceSoftmax::zero
};

/// Destination of a thread's two rows of a tile, this one and the one 8 below: the caller's tensors or, for a split,
/// the workspace.
template <class Tiles>
struct ForwardRows {
  using T = typename Tiles::T;
  T* o;
  float *lse, *partial;
  float2* partial_sum;
  int64_t stride;
  int left, d;

  __device__ __forceinline__ ForwardRows(const HopperForwardOutput& out, const ForwardSchedule& schedule,
                                         const QueryTile& tile, int row_in_tile)
      : stride(out.o.row_stride), d(out.d) {
    const int row = tile.first_row + row_in_tile;
    left = schedule.seq_q - row;
    if constexpr (Tiles::kSplitKv) {
      const int64_t row_of_all = static_cast<int64_t>(blockIdx.x) * Tiles::kRows + row_in_tile;  // one split per block
      partial = static_cast<float*>(out.o.at) + row_of_all * Tiles::kD;
      partial_sum = reinterpret_cast<float2*>(out.lse) + row_of_all;
    } else {
      o = static_cast<T*>(out.o.at) + tile.batch * out.o.batch_stride + tile.head * out.o.head_stride + row * stride;
      lse = out.lse + (static_cast<int64_t>(tile.batch) * schedule.heads_q + tile.head) * schedule.seq_q + row;
    }
  }
  /// The second kernel does not read outputs of rows whose sum is 0.
  __device__ __forceinline__ void store_nothing_seen() const {
    if constexpr (Tiles::kSplitKv)
      store_sum(0, -INFINITY, 0.f, 0.f), store_sum(1, -INFINITY, 0.f, 0.f);
    else
      kymo::flash::store_nothing_seen(o, stride, lse, left, d);
  }
  /// `c`: scale times log2(e).
  __device__ __forceinline__ void store_sum(int r, float top, float sum, float c) const {
    if (threadIdx.x % 4 != 0 || 8 * r >= left) return;
    if constexpr (Tiles::kSplitKv)
      partial_sum[8 * r] = make_float2(top, sum);
    else
      lse[8 * r] = log_sum_exp(top, sum, c);
  }
  __device__ __forceinline__ void store(const float (&outputs)[Tiles::kD / 2], const float (&inverse)[2]) const {
    if constexpr (Tiles::kSplitKv)
      store_partial<Tiles::kD>(outputs, partial, left);
    else
      store_rows<T, Tiles::kD>(outputs, inverse, o, stride, left, d);
  }
};

}  // namespace kymo::flash

// SPDX-License-Identifier: Apache-2.0
// Common code of both consumer warpgroups of the Hopper backward above head size 128 (see hopper_backward_d256.cuh).
#pragma once
#include "hopper_backward_d256.cuh"
#include "hopper_backward_products.cuh"

namespace kymo::flash {

/// Consumer 0 keeps dV, consumer 1 dK.
template <class Tiles, int kConsumer>
struct Consumer256 {
  using T = typename Tiles::T;
  static constexpr int kD = Tiles::kD, kRows = Tiles::kRows, kKeys = Tiles::kKeys;
  uint32_t shared;
  const BackwardBarriers<Tiles>& barriers;
  int thread, lane;

  __device__ __forceinline__ void arrive(uint32_t barrier) const {
    if (lane == 0) barrier_arrive(barrier);
  }
  /// Makes this warp's stores to shared memory visible to TMA and wgmma, and arrives at the barrier.
  __device__ __forceinline__ void publish(uint32_t barrier) const {
    fence_shared();
    __syncwarp();
    arrive(barrier);
  }
  /// acc (keys x queries) = the block's K or V times a tile of Q or dO.
  __device__ __forceinline__ void issue_rows(float (&acc)[kRows / 2], uint32_t keys, uint32_t tile) const {
    kymo::flash::issue_rows<Tiles>(acc, opaque(operand(keys)), opaque(operand(tile)));
  }
  /// acc (keys x head size) += left (keys x queries) times a tile of dO or Q.
  __device__ __forceinline__ void issue_columns(float (&acc)[kD / 2], uint32_t (&left)[kRows / 4],
                                                uint32_t tile) const {
    kymo::flash::issue_columns<Tiles>(acc, left, opaque(operand(tile, kRows * 128)));
  }
  /// acc (queries x 64) = dS times one panel of K, number kPanel of this consumer's panels.
  template <int kPanel>
  __device__ __forceinline__ void issue_dq(float (&acc)[kRows / 2]) const {
    const uint32_t a = opaque(operand(shared + Tiles::kDs));
    const uint32_t b = opaque(operand(shared + (Tiles::first_panel(kConsumer) + kPanel) * (kKeys * 128)));
    product_fence();
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      if (step == 0)
        Wgmma<T, 64>::template shared_first<true>(acc, descriptor(a, 0), descriptor(b, 0));
      else
        Wgmma<T, 64>::template shared<true>(acc, descriptor(a, step * 32), descriptor(b, step * 2048));
    }
    product_commit();
  }
  /// Stores this panel of dQ of tile i to shared memory, as two pieces in fragment order, and signals the thread that
  /// adds them.
  template <int kPanel>
  __device__ __forceinline__ void store_dq(const float (&dq)[kRows / 2], int i) const {
    constexpr int kSlots = Tiles::kSlots;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int piece = 2 * kPanel + half, slot = kConsumer * kSlots + Tiles::slot(piece);
      const uint32_t to = shared + Tiles::kDq + slot * Tiles::kPieceBytes + thread * 16;
      barrier_wait(barriers.dq_empty + 8 * slot, Tiles::use(kConsumer, i, piece) ^ 1);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int r = 16 * half + 4 * j;
        store_shared4(to + j * 2048, dq[r], dq[r + 1], dq[r + 2], dq[r + 3]);
      }
    }
    publish(barriers.dq_full + 8 * (kConsumer * kSlots + Tiles::slot(2 * kPanel)));  // one fence for both pieces
    arrive(barriers.dq_full + 8 * (kConsumer * kSlots + Tiles::slot(2 * kPanel + 1)));
  }
};

}  // namespace kymo::flash

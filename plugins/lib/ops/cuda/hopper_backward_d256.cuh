// SPDX-License-Identifier: Apache-2.0
// FlashAttention backward for Hopper above head size 128: design, shared memory, barriers, and the threads that write
// dQ. hopper_backward.cuh defines the symbols and the common parts.
//
// A block owns 64 keys. dK and dV of 64 x 256 take 128 registers per consumer thread each, so one consumer keeps dV and
// the other dK. Each computes the left operand of its own sum, which leaves its registers only as a copy: P for the
// other consumer, dS for dQ. dQ is split into panels of 64 columns.
//
//   values (warpgroup 1)   S^T  = K Q^T,   P^T = exp2(S^T c - lse),     dV += P^T dO,   dQ = dS K of the first panels
//   scores (warpgroup 2)   dP^T = V dO^T,  dS^T = P^T (dP^T - delta),   dK += dS^T Q,   dQ = dS K of the last two
//
// P is passed thread by thread, as the 16-bit registers that dV multiplies; dS is stored transposed, in the swizzle of
// a left operand. Pipeline of tile i; a star marks a wait for the other consumer (a and b are the two panels of its
// part of dQ):
//
//   values | dV(i)                  S(i+1)          * dQa(i)  exp: P(i+1) | dQb(i)             | dV(i+1)
//          |   dQb(i-1) to shared                                         |  dQa(i) to shared  |
//   scores | dP(i)   * dS(i) to shared  | dK(i)  dQa(i)  dQb(i)                                | dP(i+1)
//          |                            |                  dQa(i) to shared                    |   dQb(i) to shared
//
// Head size 256: dO has one buffer, which is reloaded during S, dK and dQ, which do not need it. (Two, at the expense
// of the staging buffers of dQ, are 0 to 2 % slower.) Up to 192, there is room for two.
//
// Registers: dV 128, S 32, dQ 32, P 16; dK 128, dP 32, dQ 64 (or dS 16, P 16, delta 16). The limit is shared memory
// bandwidth: a tile of head size 256 takes 2048 shared memory cycles for MMAs, 512 for Q and dO, 1024 for dQ and about
// 200 for P and dS, against 2560 tensor core cycles.
#pragma once
#include "hopper_backward.cuh"

namespace kymo::flash {

template <class T_, int kD_, bool kCausal_, int kOStages_, bool kSplitQ_ = false>
struct HopperBackwardTiles256 {
  using T = T_;
  static constexpr int kD = kD_, kRows = 64, kKeys = 64, kPanels = kD / 64;
  static constexpr bool kCausal = kCausal_, kEarlyFinish = false, kSplitQ = kSplitQ_, kPersistent = false,
                        kShort = false, kLockstep = false;
  static constexpr int kQStages = 2, kOStages = kOStages_;
  static constexpr int kSlots = 3,
                       kPieceBytes = 64 * 32 * 4;  // a consumer's staging buffers for dQ: pieces of 32 columns
  static constexpr int kQBytes = kRows * kD * 2, kKeyBytes = kKeys * kD * 2, kScoreBytes = kRows * kKeys * 2;
  static constexpr int kV = kKeyBytes, kQ = 2 * kKeyBytes, kO = kQ + kQStages * kQBytes, kP = kO + kOStages * kQBytes;
  static constexpr int kDs = kP + kScoreBytes, kDq = kDs + kScoreBytes, kLse = kDq + 2 * kSlots * kPieceBytes;
  static constexpr int kDelta = kLse + kQStages * kRows * 4, kBarriers = kDelta + kOStages * kRows * 4,
                       kShared = kBarriers + 256 + 1024;
  static_assert((kD == 192 || kD == 256) && kShared <= 227 * 1024 - 16);

  /// A consumer's part of dQ: number of panels, first panel, slot of a piece.
  static __device__ __forceinline__ constexpr int panels(int consumer) { return consumer == 0 ? kPanels - 2 : 2; }
  static __device__ __forceinline__ constexpr int first_panel(int consumer) { return consumer == 0 ? 0 : kPanels - 2; }
  static __device__ __forceinline__ constexpr int slot(int piece) { return piece % kSlots; }
  /// Parity of the slot when piece `piece` of tile i uses it; uses of a slot are counted over all tiles.
  static __device__ __forceinline__ int use(int consumer, int i, int piece) {
    const int uses = (2 * panels(consumer) - slot(piece) + kSlots - 1) / kSlots;  // per tile
    return (uses * i + piece / kSlots) & 1;
  }
};

template <class T, int kD, bool kCausal, int kOStages, bool kSplitQ>
struct BackwardBarriers<HopperBackwardTiles256<T, kD, kCausal, kOStages, kSplitQ>> {
  static constexpr int kSlots = HopperBackwardTiles256<T, kD, kCausal, kOStages, kSplitQ>::kSlots;
  uint32_t k, v, q_full, q_empty, o_full, o_empty, p_full, p_empty, ds_full, ds_empty, dq_full, dq_empty;
  __device__ __forceinline__ explicit BackwardBarriers(uint32_t at)
      : k(at),
        v(at + 8),
        q_full(at + 16),
        q_empty(at + 32),
        o_full(at + 48),
        o_empty(at + 64),
        p_full(at + 80),
        p_empty(at + 88),
        ds_full(at + 96),
        ds_empty(at + 104),
        dq_full(at + 112),
        dq_empty(at + 112 + 16 * kSlots) {}
  __device__ __forceinline__ void init() const {
    barrier_init(k, 1), barrier_init(v, 1);
    for (int i = 0; i < 2; ++i) barrier_init(q_full + 8 * i, 1), barrier_init(q_empty + 8 * i, 8);
    for (int i = 0; i < kOStages; ++i) barrier_init(o_full + 8 * i, 1), barrier_init(o_empty + 8 * i, 8);
    barrier_init(p_full, 4), barrier_init(p_empty, 4), barrier_init(ds_full, 4), barrier_init(ds_empty, 8);
    for (int i = 0; i < 2 * kSlots; ++i) barrier_init(dq_full + 8 * i, 4), barrier_init(dq_empty + 8 * i, 1);
    barriers_ready();
  }
};

/// The TMA thread. These thread blocks are not persistent: each processes one key block.
template <class Tiles>
__device__ __forceinline__ void load_one_block(const HopperBackwardCall& call, const KeyBlock& block, uint32_t shared,
                                               const BackwardBarriers<Tiles>& barriers) {
  TileLoader<Tiles> loader{call, shared, barriers};
  loader.load_keys(block, &call.k, shared, barriers.k);
  wait_for_begin<Tiles>();
  loader.load_tiles(block, [&] { loader.load_keys(block, &call.v, shared + Tiles::kV, barriers.v); });
}

/// Loop of the thread that adds one consumer's pieces of dQ to global memory.
template <class Tiles, int kConsumer>
__device__ __forceinline__ void add_dq_pieces(const HopperBackwardCall& call, const KeyBlock& block, uint32_t shared,
                                              const BackwardBarriers<Tiles>& barriers) {
  wait_for_prerequisites();  // the previous kernel zeroes dQ
  TileWalk<Tiles> walk(call, block);
#pragma unroll 1
  for (int i = 0; i < block.tiles(); ++i) {
    const int at = walk.head_of_all(call, block) * call.query_tiles + walk.tile;
    float* to = call.dq + static_cast<int64_t>(at) * (Tiles::kRows * Tiles::kD) +
                Tiles::first_panel(kConsumer) * (64 * Tiles::kRows);
#pragma unroll
    for (int piece = 0; piece < 2 * Tiles::panels(kConsumer); ++piece) {
      const int slot = kConsumer * Tiles::kSlots + Tiles::slot(piece);
      barrier_wait(barriers.dq_full + 8 * slot, Tiles::use(kConsumer, i, piece));
      if (piece == 0 && call.order) acquire_semaphore(call.order + 2 * at + kConsumer, block.index());
      add_bulk(to + piece * (Tiles::kPieceBytes / 4), shared + Tiles::kDq + slot * Tiles::kPieceBytes,
               Tiles::kPieceBytes);
      commit_bulk();
      wait_bulk_read();
      barrier_arrive(barriers.dq_empty + 8 * slot);
    }
    if (call.order) {
      wait_bulk();
      release_semaphore(call.order + 2 * at + kConsumer);
    }
    walk.next(call, block);
  }
}

}  // namespace kymo::flash

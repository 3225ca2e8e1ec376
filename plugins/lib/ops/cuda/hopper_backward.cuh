// SPDX-License-Identifier: Apache-2.0
// FlashAttention backward for Hopper (sm_90a): wgmma, TMA, warp specialization; bf16 and fp16, fp32 accumulation.
//
// A key block is 128 keys of one key/value head; its loop goes over tiles of kRows queries, of every query head of the
// group. Thread blocks are persistent: one per SM, which takes key blocks until none is left. Warpgroup 0 is the
// producer (one TMA thread, two threads that write dQ, one that takes key blocks). Warpgroups 1 and 2 are consumers of
// 64 keys each, with dK and dV in registers. S and dP are computed transposed (rows are keys), so that P and dS leave
// the accumulators in the layout of a left operand:
//
//     S^T  = K Q^T                         both from shared memory      P^T  = exp2(S^T c - lse)
//     dP^T = V dO^T                        both from shared memory      dS^T = P^T (dP^T - delta)
//     dV  += P^T dO,  dK += dS^T Q         left operand from registers
//     dQ   = dS K                          dS through shared memory: it needs both consumers' halves
//
// Pipeline of one tile in one consumer. dQ is computed one tile late, when the peer's half of dS has long been stored,
// so that the consumers never stall on each other and alternate on the tensor cores (consumer 1 starts one
// phase later). At d 128, dV follows dS, so that dS waits for dP alone; at d 64, this would take too many registers.
//
//   d 128
//   tensor | dP(i)        |           | dV(i)  dQ(i-1)  dK(i)  S(i+1) | dP(i+1) ...
//   other  |   exp: P(i)  | dS(i)     |          dQ(i-1) to shared    |     exp: P(i+1)
//                           to shared            (a producer thread then adds it to global memory)
//   d 64
//   tensor | dP(i)   dV(i) |          | dQ(i-1)  dK(i)  S(i+1)        | dP(i+1) ...
//   other  |    exp: P(i)  | dS(i)    |          dQ(i-1) to shared    |     exp: P(i+1)
//
// Longer sequences at d 128 use tiles of 80 queries and consumers in lockstep instead (hopper_backward_lockstep.cuh).
//
// The limit is registers (240 per consumer thread). d 128: dK 64, dV 64, S 32, dP 32 (also used for dQ), P 16, dS 16. d
// 64, tiles of 128 queries: 32, 32, 64, 64, 32, 32. The next limit is shared memory bandwidth.
//
// dQ is accumulated by bulk reductions in fp32 in fragment order; backward_ends.cuh initializes and converts it. The
// blocks of a head add in arbitrary order unless `order` is given: then block n adds to a tile only after block n - 1
// has. Blocks take their numbers in the order in which they start, so that none waits for a block that has not started.
// Here, a thread block processes only one key block, because one that is taken early holds up those that wait for it.
//
// Split-Q (kSplitQ): if there are too few key blocks to fill the GPU, a key block processes `split_tiles` query tiles
// of each head and adds its dK and dV to fp32 sums, which gradients_out (hopper_backward_products.cuh) scales and
// rounds. It may also process only one query head of the group (backward_splits.hpp).
#pragma once
#include "backward_ends.cuh"
#include "hopper.cuh"
#include "hopper_backward_blocks.cuh"

namespace kymo::flash {

/// kEarlyFinish: see backward_finish. kShort: see hopper_backward_short.cuh.
template <class T_, int kD_, int kRows_, bool kCausal_, bool kEarlyFinish_ = false, bool kSplitQ_ = false,
          bool kShort_ = false>
struct HopperBackwardTiles {
  using T = T_;
  static constexpr int kD = kD_, kRows = kRows_, kKeys = 128, kPanels = kD / 64;
  static constexpr bool kCausal = kCausal_, kEarlyFinish = kEarlyFinish_, kSplitQ = kSplitQ_, kPersistent = true,
                        kShort = kShort_;
  static constexpr bool kLockstep = kRows == kLockstepRows;  // hopper_backward_lockstep.cuh
  static constexpr bool kValuesLast = kD == 128;             // dV is issued after dS
  // Otherwise, S runs one tile ahead, so Q is needed longer.
  static constexpr int kQStages = kLockstep ? 2 : 3, kOStages = 2;
  static constexpr int kEarlyLse =
      kD == 128 ? 2 : 4;  // lse pairs loaded before the wait for S; more would take too many registers
  static constexpr int kQBytes = kRows * kD * 2, kKeyBytes = kKeys * kD * 2, kDsBytes = kRows * kKeys * 2,
                       kDqBytes = kRows * kD * 2;  // one consumer's part of a tile, in fp32
  static constexpr int kQ = 2 * kKeyBytes, kO = kQ + kQStages * kQBytes, kDs = kO + kOStages * kQBytes;
  // In lockstep, terms and ones take the place of lse and delta, and no space is left to align the tiles. The buffers
  // of dQ come last, because compute-sanitizer expects the operand of ones to be as large as if its rows were not all
  // the same: 2 KB.
  static constexpr int kLseRows = kShort ? kShortRows : kQStages * kRows,
                       kDeltaRows = kShort ? kShortRows : kOStages * kRows;
  static constexpr int kLse = kDs + 2 * kDsBytes, kDelta = kLse + kLseRows * 4;
  static constexpr int kTerms = kLse, kTermBytes = kRows * 16, kOnes = kTerms + kQStages * kTermBytes,
                       kOnesBytes = 8 * 16;
  static constexpr int kBarriers = kLockstep ? kOnes + 2 * kOnesBytes : kDelta + kDeltaRows * 4,
                       kBarrierBytes = kLockstep ? 248 : 304;  // BackwardBarriers
  static constexpr int kDq = (kBarriers + kBarrierBytes + 1023) / 1024 * 1024;
  static constexpr int kShared = kDq + 2 * kDqBytes + (kLockstep ? 0 : 1024);
  static_assert((kD == 128 && kRows == 64) || (kD == 64 && kRows == 128) || (kD == 128 && kLockstep),
                "a consumer's part of a tile of dQ is 64 x 64, or 80 x 64 in lockstep");
  static_assert(kShared <= 227 * 1024);
};

template <class Tiles>
struct BackwardBarriers {
  uint32_t keys_full, q_full, q_empty, o_full, o_empty, ds_full, ds_empty, dq_full, dq_empty;
  uint32_t keys_empty, block_full, block_empty, block_wanted, blocks, rows;  // `blocks`: two slots of 32 bytes
  __device__ __forceinline__ explicit BackwardBarriers(uint32_t at)
      : keys_full(at),
        q_full(at + 16),
        q_empty(q_full + 8 * Tiles::kQStages),
        o_full(q_empty + 8 * Tiles::kQStages),
        o_empty(o_full + 8 * Tiles::kOStages),
        ds_full(o_empty + 8 * Tiles::kOStages),
        ds_empty(ds_full + 16),
        dq_full(Tiles::kLockstep ? ds_full : ds_empty + 16),  // in lockstep, a named barrier replaces those of dS
        dq_empty(dq_full + 16),
        keys_empty(dq_empty + 16),
        block_full(keys_empty + 16),
        block_empty(block_full + 16),
        block_wanted(block_empty + 16),
        blocks(block_wanted + 16),
        rows(blocks + 64) {}
  __device__ __forceinline__ void init() const {
    barrier_init(keys_full, 1), barrier_init(keys_full + 8, 1);
    barrier_init(keys_empty, 8), barrier_init(keys_empty + 8, 8);
    barrier_init(block_wanted, 1);
    for (int i = 0; i < Tiles::kQStages; ++i) barrier_init(q_full + 8 * i, 1), barrier_init(q_empty + 8 * i, 8);
    for (int i = 0; i < Tiles::kOStages; ++i) barrier_init(o_full + 8 * i, 1), barrier_init(o_empty + 8 * i, 8);
    for (int i = 0; i < 2; ++i) {
      if constexpr (!Tiles::kLockstep) barrier_init(ds_full + 8 * i, 8), barrier_init(ds_empty + 8 * i, 8);
      barrier_init(dq_full + 8 * i, 4), barrier_init(dq_empty + 8 * i, 1);
      barrier_init(block_full + 8 * i, 1), barrier_init(block_empty + 8 * i, 8 + 3);
    }
    barriers_ready();
  }
  /// Publishes the key block of `round`, which one thread takes for all.
  __device__ __forceinline__ void publish_block(int round, const KeyBlock& block) const {
    const uint32_t to = blocks + 4 * kBlockWords * (round & 1);
    barrier_wait(block_empty + 8 * (round & 1), ((round >> 1) & 1) ^ 1);
#pragma unroll
    for (int i = 0; i < kBlockWords; ++i) store_word(to + 4 * i, static_cast<uint32_t>(block.words[i]));
    barrier_arrive(block_full + 8 * (round & 1));
  }
  __device__ __forceinline__ SharedKeyBlock receive_block(int round) const {
    barrier_wait(block_full + 8 * (round & 1), (round >> 1) & 1);
    return {{blocks + 4 * kBlockWords * (round & 1)}};
  }
  /// Ends the reading of the key block. Called by one thread of a warp.
  __device__ __forceinline__ void release_block(int round) const { barrier_arrive(block_empty + 8 * (round & 1)); }
  /// First row of the tile of Q in a stage.
  __device__ __forceinline__ void publish_row(int stage, int row) const {
    store_word(rows + 4 * stage, static_cast<uint32_t>(row));
  }
  __device__ __forceinline__ int first_row(int stage) const { return static_cast<int>(load_word(rows + 4 * stage)); }
};

/// The previous kernel computes lse and delta and zeroes dQ as well as `counters`, which an early finish reads: the
/// latter must not start sooner.
template <class Tiles>
__device__ __forceinline__ void wait_for_begin() {
  wait_for_prerequisites();
  if constexpr (Tiles::kEarlyFinish) launch_dependents();
}

/// Loads the query tiles of a key block: Q and lse, dO and delta, through circular buffers.
template <class Tiles>
struct TileLoader {
  const HopperBackwardCall& call;
  uint32_t shared;
  const BackwardBarriers<Tiles>& barriers;
  unsigned tiles = 0;

  template <class Block>
  __device__ __forceinline__ void load_keys(const Block& block, const CUtensorMap* map, uint32_t to, uint32_t full) {
    barrier_expect(full, Tiles::kKeyBytes);
#pragma unroll
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      load_box(to + panel * Tiles::kKeys * 128, map, full,
               {panel * 64, first_key<Tiles>(block), block.head_kv(), block.batch()});
  }
  /// Loads a tile of Q with lse, or of dO with delta; in lockstep, Q with both as terms, and dO alone.
  template <int kSumBytes>
  __device__ __forceinline__ void load_queries(const Corner& at, const CUtensorMap* map, uint32_t to, const void* sums,
                                               uint32_t sums_to, uint32_t full) {
    barrier_expect(full, Tiles::kQBytes + kSumBytes);
#pragma unroll
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      load_box(to + panel * Tiles::kRows * 128, map, full, {panel * 64, at.row, at.head, at.batch});
    if constexpr (kSumBytes > 0) load_bulk(sums_to, sums, kSumBytes, full);
  }
  /// before_values: called once Q of the first tile is requested, before dO.
  template <class Block, class BeforeValues>
  __device__ __forceinline__ void load_tiles(const Block& block, const BeforeValues& before_values) {
    TileWalk<Tiles> walk(call, block);
    bool is_first = true;
#pragma unroll 1
    for (int left = block.tiles(); left > 0; --left) {
      // Everything is computed before the waits: the loads of a released buffer are urgent.
      const Corner at{0, walk.tile * Tiles::kRows, block.head_kv() * call.group + walk.head, block.batch()};
      const int sums_at = (at.batch * call.heads_q + at.head) * call.padded + at.row;
      walk.next(call, block);
      const unsigned q_stage = tiles % Tiles::kQStages;
      barrier_wait(barriers.q_empty + 8 * q_stage, (tiles / Tiles::kQStages & 1) ^ 1);
      if constexpr (Tiles::kPersistent && Tiles::kCausal) barriers.publish_row(q_stage, at.row);
      const uint32_t q_to = shared + Tiles::kQ + q_stage * Tiles::kQBytes, q_full = barriers.q_full + 8 * q_stage;
      if constexpr (Tiles::kLockstep)
        load_queries<Tiles::kTermBytes>(at, &call.q, q_to, call.terms + sums_at,
                                        shared + Tiles::kTerms + q_stage * Tiles::kTermBytes, q_full);
      else
        load_queries<Tiles::kShort ? 0 : Tiles::kRows * 4>(at, &call.q, q_to, call.lse_log2 + sums_at,
                                                           shared + Tiles::kLse + q_stage * Tiles::kRows * 4, q_full);
      if (is_first) before_values();
      is_first = false;
      // Computed again in lockstep, where a register would spill to keep it.
      const unsigned number = Tiles::kLockstep ? opaque(tiles) : tiles, o_stage = number % Tiles::kOStages;
      barrier_wait(barriers.o_empty + 8 * o_stage, (number / Tiles::kOStages & 1) ^ 1);
      load_queries<Tiles::kLockstep || Tiles::kShort ? 0 : Tiles::kRows * 4>(
          at, &call.d_o, shared + Tiles::kO + o_stage * Tiles::kQBytes, call.delta + sums_at,
          shared + Tiles::kDelta + o_stage * Tiles::kRows * 4, barriers.o_full + 8 * o_stage);
      ++tiles;
    }
  }
};

/// The thread of a persistent thread block that takes its key blocks, which needs several divisions. It takes the next
/// one when the TMA thread has requested all tiles of the current one: late, so that no thread block takes one that
/// another one could start sooner, but before it is needed.
template <class Tiles>
__device__ __forceinline__ void take_blocks(const HopperBackwardCall& call, const BackwardBarriers<Tiles>& barriers) {
  int tiles = 0;
#pragma unroll 1
  for (int round = 0;; ++round) {
    if (round > 0) barrier_wait(barriers.block_wanted, (round & 1) ^ 1);
    KeyBlock block = take_key_block<Tiles>(call, round == 0);
    block.words[KeyBlock::kTilesBefore] = tiles;
    tiles += block.tiles();
    barriers.publish_block(round, block);
    if (block.tiles() == 0) break;
  }
}

/// The TMA thread of a persistent thread block.
template <class Tiles>
__device__ __forceinline__ void load_blocks(const HopperBackwardCall& call, uint32_t shared,
                                            const BackwardBarriers<Tiles>& barriers) {
  TileLoader<Tiles> loader{call, shared, barriers};
#pragma unroll 1
  for (int round = 0;; ++round) {
    const SharedKeyBlock block = barriers.receive_block(round);
    if (block.tiles() == 0) break;
    // K and V exchange their buffers with each key block: that of V is free earlier. Addresses are hidden from the
    // compiler where a register would spill to keep them.
    const int k = round & 1, v = k ^ 1;
    barrier_wait(barriers.keys_empty + 8 * k, (round & 1) ^ 1);
    loader.load_keys(block, &call.k, shared + k * Tiles::kKeyBytes, barriers.keys_full + 8 * opaque(k));
    if (round == 0) wait_for_begin<Tiles>();
    loader.load_tiles(block, [&] {
      barrier_wait(barriers.keys_empty + 8 * v, (round & 1) ^ 1);
      loader.load_keys(block, &call.v, shared + v * Tiles::kKeyBytes, barriers.keys_full + 8 * v);
    });
    barriers.release_block(static_cast<int>(opaque(round)));
    barrier_arrive(barriers.block_wanted);
  }
}

/// Loop of the thread that adds one consumer's contributions to dQ in global memory.
template <class Tiles, int kConsumer>
__device__ __forceinline__ void add_dq(const HopperBackwardCall& call, uint32_t shared,
                                       const BackwardBarriers<Tiles>& barriers) {
  wait_for_begin<Tiles>();
  const uint32_t from = shared + Tiles::kDq + kConsumer * Tiles::kDqBytes;
  int phase = 0;
#pragma unroll 1
  for (int round = 0;; ++round) {
    const SharedKeyBlock block = barriers.receive_block(round);
    if (block.tiles() == 0) break;
    TileWalk<Tiles> walk(call, block);
#pragma unroll 1
    for (int left = block.tiles(); left > 0; --left) {
      const int at = walk.head_of_all(call, block) * call.query_tiles + walk.tile;
      barrier_wait(barriers.dq_full + 8 * kConsumer, phase);
      phase ^= 1;
      if (call.order) acquire_semaphore(call.order + 2 * at + kConsumer, block.index());
      add_bulk(call.dq + static_cast<int64_t>(at) * (Tiles::kRows * Tiles::kD) + kConsumer * (Tiles::kDqBytes / 4),
               from, Tiles::kDqBytes);
      commit_bulk();
      if (call.order) {
        wait_bulk();
        release_semaphore(call.order + 2 * at + kConsumer);
      } else {
        wait_bulk_read();
      }
      barrier_arrive(barriers.dq_empty + 8 * kConsumer);
      walk.next(call, block);
    }
    if constexpr (Tiles::kEarlyFinish) {
      wait_bulk();
      release_semaphore(call.counters + block.batch() * call.heads_kv + block.head_kv());
    }
    barriers.release_block(round);
  }
}

}  // namespace kymo::flash

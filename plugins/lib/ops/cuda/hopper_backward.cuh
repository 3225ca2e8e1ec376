// SPDX-License-Identifier: Apache-2.0
// FlashAttention backward for Hopper (sm_90a): wgmma, TMA, warp specialization; bf16 and fp16, fp32 accumulation.
//
// A block owns 128 keys of one key/value head and loops over tiles of kRows queries, of every query head of the group.
// Warpgroup 0 is the producer (one TMA thread, two threads that write dQ). Warpgroups 1 and 2 are consumers of 64 keys
// each, with dK and dV in registers. S and dP are computed transposed (rows are keys), so that P and dS leave the
// accumulators in the layout of a left operand:
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
// The limit is registers (240 per consumer thread). d 128: dK 64, dV 64, S 32, dP 32 (also used for dQ), P 16, dS 16. d
// 64, tiles of 128 queries: 32, 32, 64, 64, 32, 32. The next limit is shared memory bandwidth.
//
// dQ is accumulated by bulk reductions in fp32 in fragment order; backward_ends.cuh initializes and converts it. The
// blocks of a head add in arbitrary order unless `order` is given: then block n adds to a tile only after block n - 1
// has. Blocks take their numbers in the order in which they start, so that none waits for a block that has not started.
//
// Split-Q (kSplitQ): if there are too few key blocks to fill the GPU, a block processes `split_tiles` query tiles of
// each head and adds its dK and dV to fp32 sums, which gradients_out (hopper_backward_products.cuh) scales and rounds.
// A block may also process only one query head of the group (backward_splits.hpp).
#pragma once
#include "backward_ends.cuh"
#include "hopper.cuh"

namespace kymo::flash {

struct HopperBackwardCall {
  CUtensorMap q, d_o, k, v, dk, dv;
  const float *lse_log2, *delta;  // (batch * heads_q, padded), see RowSums
  float* dq;                      // (batch * heads_q, query tiles, kRows * kD) in fragment order
  int* order;  // deterministic: {next block, then the semaphores of (batch * heads_q, query tiles, consumer)}; or null
  int seq_k, shift;  // shift = seq_k - seq_q: query i sees keys up to i + shift
  int interleaved;   // heads, see key_block()
  int heads_q, heads_kv, group, query_tiles, key_blocks, padded;
  float scale, scale_log2;
  int* counters;             // early finish: completed additions to dQ of each (batch, key/value head), two per block
  int split_tiles;           // kSplitQ: query tiles of a block
  int head_splits;           // blocks that share the query heads of the group; 1 without kSplitQ
  float *dk_sums, *dv_sums;  // kSplitQ: (batch * heads_kv, key_blocks * kKeys, kD)
};

/// kEarlyFinish: see backward_finish.
template <class T_, int kD_, int kRows_, bool kCausal_, bool kEarlyFinish_ = false, bool kSplitQ_ = false>
struct HopperBackwardTiles {
  using T = T_;
  static constexpr int kD = kD_, kRows = kRows_, kKeys = 128, kPanels = kD / 64;
  static constexpr bool kCausal = kCausal_, kEarlyFinish = kEarlyFinish_, kSplitQ = kSplitQ_;
  static constexpr bool kValuesLast = kD == 128;    // dV is issued after dS
  static constexpr int kQStages = 3, kOStages = 2;  // S runs one tile ahead, so Q is needed longer
  static constexpr int kEarlyLse =
      kD == 128 ? 2 : 4;  // lse pairs loaded before the wait for S; more would take too many registers
  static constexpr int kQBytes = kRows * kD * 2, kKeyBytes = kKeys * kD * 2, kDsBytes = kRows * kKeys * 2,
                       kDqBytes = 64 * 64 * 4;
  static constexpr int kV = kKeyBytes, kQ = 2 * kKeyBytes, kO = kQ + kQStages * kQBytes, kDs = kO + kOStages * kQBytes;
  static constexpr int kDq = kDs + 2 * kDsBytes, kLse = kDq + 2 * kDqBytes, kDelta = kLse + kQStages * kRows * 4;
  static constexpr int kBarriers = kDelta + kOStages * kRows * 4, kShared = kBarriers + 256 + 1024;
  static_assert((kD == 128 && kRows == 64) || (kD == 64 && kRows == 128),
                "a consumer's part of a tile of dQ is 64 x 64");
  static_assert(kShared <= 227 * 1024);
};

template <class Tiles>
struct BackwardBarriers {
  uint32_t k, v, q_full, q_empty, o_full, o_empty, ds_full, ds_empty, dq_full, dq_empty;
  __device__ __forceinline__ explicit BackwardBarriers(uint32_t at)
      : k(at),
        v(at + 8),
        q_full(at + 16),
        q_empty(q_full + 8 * Tiles::kQStages),
        o_full(q_empty + 8 * Tiles::kQStages),
        o_empty(o_full + 8 * Tiles::kOStages),
        ds_full(o_empty + 8 * Tiles::kOStages),
        ds_empty(ds_full + 16),
        dq_full(ds_empty + 16),
        dq_empty(dq_full + 16) {}
  __device__ __forceinline__ void init() const {
    barrier_init(k, 1), barrier_init(v, 1);
    for (int i = 0; i < Tiles::kQStages; ++i) barrier_init(q_full + 8 * i, 1), barrier_init(q_empty + 8 * i, 8);
    for (int i = 0; i < Tiles::kOStages; ++i) barrier_init(o_full + 8 * i, 1), barrier_init(o_empty + 8 * i, 8);
    for (int i = 0; i < 2; ++i) {
      barrier_init(ds_full + 8 * i, 8), barrier_init(ds_empty + 8 * i, 8);
      barrier_init(dq_full + 8 * i, 4), barrier_init(dq_empty + 8 * i, 1);
    }
    barriers_ready();
  }
};

/// Position of a block, and its range of query tiles.
struct KeyBlock {
  int index, first_key, head_kv, batch;
  int first_tile, end_tile, tiles;  // query tiles of each head; of all heads of the block
  int first_head, end_head;         // query heads, within the group
};
/// End of the query tiles of a head; constant for the call without split-Q.
template <class Tiles>
__device__ __forceinline__ int end_tile(const HopperBackwardCall& call, const KeyBlock& block) {
  return Tiles::kSplitQ ? block.end_tile : call.query_tiles;
}
template <class Tiles>
__device__ __forceinline__ KeyBlock key_block(const HopperBackwardCall& call, int number) {
  // Heads are processed one after another, so that the data of the current heads (Q, dO, fp32 dQ) stays in L2. With a
  // causal mask, block 0 of a head is its longest. The last `interleaved` heads are processed together, the longest
  // blocks of all of them first, so that the last blocks to run are short. The last head comes first, because the
  // previous kernel touched its data last. Likewise, the next kernel starts with the first head, whose data this kernel
  // touches last.
  const int splits = Tiles::kSplitQ ? (call.query_tiles + call.split_tiles - 1) / call.split_tiles : 1,
            split = Tiles::kSplitQ ? number % splits : 0;
  // With split query heads, `head` counts these.
  const int of_head = number / splits, heads = static_cast<int>(gridDim.x) / (splits * call.key_blocks);
  const int head_splits = Tiles::kSplitQ ? call.head_splits : 1, block_heads = call.group / head_splits;
  int index = of_head % call.key_blocks, head = heads - 1 - of_head / call.key_blocks;
  if (Tiles::kCausal && head < call.interleaved) {
    const int of_interleaved = of_head - (heads - call.interleaved) * call.key_blocks;
    index = of_interleaved / call.interleaved, head = call.interleaved - 1 - of_interleaved % call.interleaved;
  }
  const int seen = Tiles::kCausal ? max(0, index * Tiles::kKeys - call.shift) / Tiles::kRows : 0;
  const int first = Tiles::kSplitQ ? max(seen, split * call.split_tiles) : seen;
  const int end = Tiles::kSplitQ ? min(call.query_tiles, (split + 1) * call.split_tiles) : call.query_tiles;
  const int first_head = head % head_splits * block_heads, head_kv = head / head_splits;
  return {index,
          index * Tiles::kKeys,
          head_kv % call.heads_kv,
          head_kv / call.heads_kv,
          first,
          end,
          max(0, end - first) * block_heads,
          first_head,
          first_head + block_heads};
}

/// The query tiles of a block, in the order in which all of its threads process them. With several query heads per
/// key/value head: tile by tile from the last one on, in each tile head by head. Blocks of the same keys' head that
/// start together then share Q, dO and dQ in L2, wherever their diagonals are. Otherwise, and in deterministic mode:
/// the tiles of a head from the first one on, which with a causal mask differs between blocks, so that they add to
/// different tiles of dQ at a time, and reach each tile in the order in which they must add to it.
template <class Tiles>
struct TileWalk {
  int tile, head;  // head: within the group
  __device__ __forceinline__ TileWalk(const HopperBackwardCall& call, const KeyBlock& block)
      : tile(by_head(call, block) ? block.first_tile : end_tile<Tiles>(call, block) - 1), head(block.first_head) {}
  __device__ __forceinline__ static bool by_head(const HopperBackwardCall& call, const KeyBlock& block) {
    return call.order || block.end_head - block.first_head == 1;
  }
  __device__ __forceinline__ void next(const HopperBackwardCall& call, const KeyBlock& block) {
    if (by_head(call, block)) {
      if (++tile == end_tile<Tiles>(call, block)) tile = block.first_tile, ++head;
    } else if (++head == block.end_head) {
      head = block.first_head, --tile;
    }
  }
  /// Query head of all batch elements.
  __device__ __forceinline__ int64_t head_of_all(const HopperBackwardCall& call, const KeyBlock& block) const {
    return static_cast<int64_t>(block.batch) * call.heads_q + block.head_kv * call.group + head;
  }
};

/// The previous kernel computes lse and delta and zeroes dQ as well as `counters`, which an early finish reads: the
/// latter must not start sooner.
template <class Tiles>
__device__ __forceinline__ void wait_for_begin() {
  wait_for_prerequisites();
  if constexpr (Tiles::kEarlyFinish) launch_dependents();
}

/// Loop of the TMA thread.
template <class Tiles>
__device__ __forceinline__ void load_tiles(const HopperBackwardCall& call, const KeyBlock& block, uint32_t shared,
                                           const BackwardBarriers<Tiles>& barriers) {
  TileWalk<Tiles> walk(call, block);
  auto load = [&](const CUtensorMap* map, const float* sums, uint32_t to, uint32_t sums_to, uint32_t full) {
    barrier_expect(full, Tiles::kQBytes + Tiles::kRows * 4);
#pragma unroll
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      load_box(to + panel * Tiles::kRows * 128, map, full,
               {panel * 64, walk.tile * Tiles::kRows, block.head_kv * call.group + walk.head, block.batch});
    load_bulk(sums_to, sums + walk.head_of_all(call, block) * call.padded + walk.tile * Tiles::kRows, Tiles::kRows * 4,
              full);
  };
  auto load_own = [&](const CUtensorMap* map, uint32_t to, uint32_t full) {
    barrier_expect(full, Tiles::kKeyBytes);
#pragma unroll
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      load_box(to + panel * Tiles::kKeys * 128, map, full, {panel * 64, block.first_key, block.head_kv, block.batch});
  };
  load_own(&call.k, shared, barriers.k);
  wait_for_begin<Tiles>();
  int q_stage = 0, q_phase = 1, o_stage = 0, o_phase = 1;
#pragma unroll 1
  for (int i = 0; i < block.tiles; ++i) {
    barrier_wait(barriers.q_empty + 8 * q_stage, q_phase);
    load(&call.q, call.lse_log2, shared + Tiles::kQ + q_stage * Tiles::kQBytes,
         shared + Tiles::kLse + q_stage * Tiles::kRows * 4, barriers.q_full + 8 * q_stage);
    advance(q_stage, q_phase, Tiles::kQStages);
    if (i == 0) load_own(&call.v, shared + Tiles::kV, barriers.v);
    barrier_wait(barriers.o_empty + 8 * o_stage, o_phase);
    load(&call.d_o, call.delta, shared + Tiles::kO + o_stage * Tiles::kQBytes,
         shared + Tiles::kDelta + o_stage * Tiles::kRows * 4, barriers.o_full + 8 * o_stage);
    advance(o_stage, o_phase, Tiles::kOStages);
    walk.next(call, block);
  }
}

/// Loop of the thread that adds one consumer's contribution to dQ in global memory.
template <class Tiles>
__device__ __forceinline__ void add_dq(const HopperBackwardCall& call, const KeyBlock& block, int consumer,
                                       uint32_t shared, const BackwardBarriers<Tiles>& barriers) {
  wait_for_begin<Tiles>();
  const uint32_t from = shared + Tiles::kDq + consumer * Tiles::kDqBytes;
  TileWalk<Tiles> walk(call, block);
#pragma unroll 1
  for (int i = 0; i < block.tiles; ++i) {
    const int64_t at = walk.head_of_all(call, block) * call.query_tiles + walk.tile;
    barrier_wait(barriers.dq_full + 8 * consumer, i & 1);
    if (call.order) acquire_semaphore(call.order + 1 + 2 * at + consumer, block.index);
    add_bulk(call.dq + at * (Tiles::kRows * Tiles::kD) + consumer * 4096, from, Tiles::kDqBytes);
    commit_bulk();
    if (call.order) {
      wait_bulk();
      release_semaphore(call.order + 1 + 2 * at + consumer);
    } else {
      wait_bulk_read();
    }
    barrier_arrive(barriers.dq_empty + 8 * consumer);
    walk.next(call, block);
  }
  if constexpr (Tiles::kEarlyFinish) {
    wait_bulk();
    release_semaphore(call.counters + block.batch * call.heads_kv + block.head_kv);
  }
}

}  // namespace kymo::flash

// SPDX-License-Identifier: Apache-2.0
// The Hopper forward with pipelining across query tiles. It differs from hopper_forward.cuh only at the boundary
// between two query tiles. There, a tile starts with scores that no P V overlaps, once its Q is loaded, and ends with a
// P V and stores that no scores overlap. Here, the boundary is a regular pipeline step (a prime marks the next query
// tile):
//
//   consumer 0 | QK2 PV1 softmax2 | QK3 PV2 softmax3 | QK'0 PV3 softmax'0, write O | QK'1 PV'0 softmax'1 | ...
//
// Q stays in registers while its tile is processed: S then reads a third less from shared memory, and the next Q is
// loaded meanwhile. There is a load thread each for K, V and Q, which runs ahead into the next tile as far as its
// circular buffer allows. Rows that see no key get one fully masked key tile, so that every tile has a first step and
// the pipeline needs no special cases.
#pragma once
#include <type_traits>

#include "hopper_forward.cuh"
#include "hopper_forward_products.cuh"
#include "hopper_forward_rows.cuh"

namespace kymo::flash {

/// Loop of one thread that loads the key or value tiles of successive query tiles. The thread that loads keys also
/// determines the next task.
template <class Tiles, bool kFindsNext>
__device__ __forceinline__ void load_ring(const CUtensorMap* map, const ForwardSchedule& schedule, uint32_t to,
                                          uint32_t full, uint32_t empty, const ForwardBarriers<Tiles>& barriers) {
  int stage = 0, phase = 1, number = kFindsNext ? schedule.first_number<Tiles>() : 0;
#pragma unroll 1
  for (int round = 0;; ++round) {
    const ForwardTask task = kFindsNext ? schedule.task<Tiles>(number) : barriers.receive_task(round);
    if constexpr (kFindsNext) {
      barriers.publish_task(round, task);
      number = schedule.next_number<Tiles>(round);
    }
    if (task.none()) break;
    if (round == 0) wait_for_prerequisites();
#pragma unroll 1
    for (int n = 0; n < task.end; ++n) {
      barrier_wait(empty + 8 * stage, phase);
      barrier_expect(full + 8 * stage, Tiles::kKeyBytes);
#pragma unroll
      for (int panel = 0; panel < Tiles::kPanels; ++panel)
        load_box(to + stage * Tiles::kKeyBytes + panel * Tiles::kKeys * 128, map, full + 8 * stage,
                 {panel * 64, n * Tiles::kKeys, task.queries.head_kv, task.queries.batch});
      advance(stage, phase, Tiles::kStages);
    }
  }
}

template <class Tiles>
__device__ __forceinline__ void load_pipelined(const HopperForwardMaps& maps, const ForwardSchedule& schedule,
                                               uint32_t q_tile, uint32_t k_tiles, uint32_t v_tiles,
                                               const ForwardBarriers<Tiles>& barriers) {
  if (threadIdx.x == 0) {
    load_ring<Tiles, true>(&maps.k, schedule, k_tiles, barriers.k_full, barriers.k_empty, barriers);
  } else if (threadIdx.x == 32) {
    load_ring<Tiles, false>(&maps.v, schedule, v_tiles, barriers.v_full, barriers.v_empty, barriers);
  } else if (threadIdx.x == 64) {
    load_queries<Tiles>(maps, q_tile, barriers);
  }
}

template <class Tiles>
__device__ __forceinline__ void consume_pipelined(const HopperForwardOutput& out, const ForwardSchedule& schedule,
                                                  int consumer, uint32_t q_tile, uint32_t k_tiles, uint32_t v_tiles,
                                                  const ForwardBarriers<Tiles>& barriers) {
  using T = typename Tiles::T;
  constexpr int kD = Tiles::kD, kKeys = Tiles::kKeys, kStages = Tiles::kStages;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
  const int row_in_block =
      consumer * 64 + warp * 16 + lane / 4;  // this thread: this row of the tile and the one 8 below
  const uint32_t k_operand = operand(k_tiles), v_operand = operand(v_tiles, kKeys * 128);
  PieceSoftmax<kKeys> softmax(out.scale_log2, out.inverse_scale_log2, out.zero);
  auto& s = softmax.s;
  float o[kD / 2], inverse[2];
  uint32_t q[kD / 4], p[kKeys / 4];
  int stage_k = 0, phase_k = 0, stage_v = 0, phase_v = 0;
  QueryTile tile;       // the tile whose scores are being computed
  int tiles, unmasked;  // its visible key tiles; those below `unmasked` need no mask
  T* o_rows;            // of the tile whose outputs are complete
  int rows_left;
  auto arrive = [&](uint32_t barrier) {
    if (lane == 0) barrier_arrive(barrier);
  };
  auto load_q = [&](int round) {
    barrier_wait(barriers.q_full + 8 * consumer, round & 1);
    load_left_operand<kD>(q, q_tile + consumer * 64 * 128, Tiles::kRows * 128);
  };
  // After the first MMA of these rows: an arrival does not wait for ldmatrix, and TMA would overwrite what it reads.
  auto release_q = [&] { arrive(barriers.q_empty + 8 * consumer); };
  auto scores = [&] {
    issue_by_rows<T, kD, kKeys>(s, q, k_operand + stage_k * (Tiles::kKeyBytes >> 4));
    product_commit();
  };
  auto outputs = [&] { issue_outputs<Tiles>(o, p, v_operand + stage_v * (Tiles::kKeyBytes >> 4)); };
  auto release_k = [&] { arrive(barriers.k_empty + 8 * stage_k), advance(stage_k, phase_k, kStages); };
  auto wait_outputs = [&] {
    product_wait<0>();
    pin(o), pin(p);
    arrive(barriers.v_empty + 8 * stage_v), advance(stage_v, phase_v, kStages);
  };
  auto begin_tile = [&](const ForwardTask& task) {
    tile = task.queries, tiles = task.end;
    const int seen = Tiles::kCausal ? max(0, tile.first_row + consumer * 64 + schedule.shift + 1)
                                    : schedule.seq_k;  // keys seen by all rows
    unmasked = min(schedule.seq_k, seen) / kKeys;
    softmax.begin();
  };
  auto mask = [&](int n) { mask_scores<Tiles>(s, schedule, tile.first_row + row_in_block, n * kKeys); };
  // Row sums and log-sum-exp of the tile whose last P V is pending.
  auto finish_rows = [&] {
    const int row = tile.first_row + row_in_block;
    float* lse = out.lse + (static_cast<int64_t>(tile.batch) * schedule.heads_q + tile.head) * schedule.seq_q + row;
    o_rows = static_cast<T*>(out.o.at) + tile.batch * out.o.batch_stride + tile.head * out.o.head_stride +
             row * out.o.row_stride;
    rows_left = schedule.seq_q - row;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = softmax.row_sum(r);
      inverse[r] = sum == 0.f ? 0.f : 1.f / sum;
      if (quad == 0 && 8 * r < rows_left) lse[8 * r] = log_sum_exp(softmax.reference[r], sum, softmax.c);
    }
  };
  auto write_outputs = [&] {
    clear_unseen(o, inverse);
    store_rows<T, kD>(o, inverse, o_rows, out.o.row_stride, rows_left, out.d);
  };
  // Scores of tile n, outputs of tile n - 1, softmax of tile n. At a boundary: the first scores of the next task, the
  // last outputs of the previous one, which are stored at once: later, registers would spill.
  auto step = [&](int n, auto masked, auto border, int round, const ForwardTask& task) {
    constexpr bool kBorder = decltype(border)::value;
    barrier_wait(barriers.k_full + 8 * stage_k, phase_k);
    if constexpr (kBorder) load_q(round);
    named_sync(1 + consumer, 256);
    pin(s), pin(o), pin(p), pin(q);
    product_fence();
    scores();
    barrier_wait(barriers.v_full + 8 * stage_v, phase_v);
    product_fence();
    outputs();
    named_arrive(1 + (consumer + 1) % Tiles::kGroups, 256);
    if constexpr (kBorder) finish_rows(), begin_tile(task);
    product_wait<1>();  // scores are complete, outputs are pending
    pin(s);
    release_k();
    if constexpr (kBorder) {
      release_q();
      if (unmasked == 0) mask(0);
    } else if constexpr (decltype(masked)::value) {
      mask(n);
    }
#pragma unroll
    for (int k = 0; k < softmax.kPieces; ++k) softmax.maximum_piece(k);
    if constexpr (kBorder)
      softmax.finish_first_maximum();
    else
      softmax.finish_maximum();
#pragma unroll
    for (int k = 0; k < softmax.kPieces; ++k) {
      if (k == Tiles::kHold) {
        barrier_wait(barriers.v_full + 8 * stage_v, phase_v);  // already completed; ends a basic block, as in `consume`
        wait_outputs();
        softmax.order_after(o[0], o[2]);
        if constexpr (kBorder) write_outputs();
      }
      softmax.exponential_piece(k);
    }
    softmax.finish_sum();
    softmax.template pack_into<T>(p);
    if constexpr (kBorder) {
      clear(o);
      softmax.set_limits();
    } else if (softmax.raised) {
#pragma unroll
      for (int i = 0; i < kD / 2; ++i) o[i] *= softmax.correction[i / 2 % 2];
      softmax.set_limits();
    }
  };
  if (consumer == Tiles::kGroups - 1) named_arrive(1, 256);  // the token starts with consumer 0
  constexpr std::true_type yes;
  constexpr std::false_type no;
  // The block's very first scores: there is no P V yet.
  begin_tile(barriers.receive_task(0, lane));
  load_q(0);
  barrier_wait(barriers.k_full + 8 * stage_k, phase_k);
  pin(s), pin(q);
  product_fence();
  scores();
  product_wait<0>();
  pin(s);
  release_k(), release_q();
  if (unmasked == 0) mask(0);
  first_softmax(softmax);
  clear(o);
  softmax.template pack_into<T>(p);
#pragma unroll 1
  for (int round = 1;; ++round) {
    int n = 1;
#pragma unroll 1
    for (; n < unmasked; ++n) step(n, no, no, 0, ForwardTask{});
#pragma unroll 1
    for (; n < tiles; ++n) step(n, yes, no, 0, ForwardTask{});
    const ForwardTask next = barriers.receive_task(round, lane);
    if (next.none()) break;
    step(0, yes, yes, round, next);
  }
  barrier_wait(barriers.v_full + 8 * stage_v, phase_v);
  pin(o), pin(p);
  product_fence();
  outputs();
  finish_rows();
  wait_outputs();
  write_outputs();
}

}  // namespace kymo::flash

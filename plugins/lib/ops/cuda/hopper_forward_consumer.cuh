// SPDX-License-Identifier: Apache-2.0
// The consumer warpgroups of the Hopper forward (see hopper_forward.cuh).
#pragma once
#include "hopper_forward_products.cuh"
#include "hopper_forward_rows.cuh"

namespace kymo::flash {

template <class Tiles>
__device__ __forceinline__ void consume(const HopperForwardOutput& out, const ForwardSchedule& schedule, int consumer,
                                        uint32_t q_tile, uint32_t k_tiles, uint32_t v_tiles,
                                        const ForwardBarriers<Tiles>& barriers) {
  using T = typename Tiles::T;
  constexpr int kD = Tiles::kD, kKeys = Tiles::kKeys, kStages = Tiles::kStages;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const int row_in_group = warp * 16 + lane / 4;  // this thread: this row of the warpgroup and the one 8 below
  const uint32_t q_operand = operand(q_tile + consumer * 64 * 128), k_operand = operand(k_tiles),
                 v_operand = operand(v_tiles, kKeys * 128);
  PieceSoftmax<kKeys> softmax(out.scale_log2, out.inverse_scale_log2, out.zero);
  auto& s = softmax.s;
  float o[kD / 2];
  uint32_t p[kKeys / 4];
  int stage_k = 0, phase_k = 0, stage_v = 0, phase_v = 0;

  auto arrive = [&](uint32_t barrier) {
    if (lane == 0) barrier_arrive(barrier);
  };
  auto scores = [&] { issue_scores<Tiles>(s, q_operand, k_operand + stage_k * (Tiles::kKeyBytes >> 4)); };
  auto outputs = [&] { issue_outputs<Tiles>(o, p, v_operand + stage_v * (Tiles::kKeyBytes >> 4)); };
  auto release_k = [&] { arrive(barriers.k_empty + 8 * stage_k), advance(stage_k, phase_k, kStages); };
  auto release_v = [&] { arrive(barriers.v_empty + 8 * stage_v), advance(stage_v, phase_v, kStages); };
  auto wait_outputs = [&] {
    product_wait<0>();
    pin(o), pin(p);
    release_v();
  };
  if (consumer == Tiles::kGroups - 1) named_arrive(1, 256);  // the token starts with consumer 0

#pragma unroll 1
  for (int round = 0;; ++round) {
    const ForwardTask task = barriers.receive_task(round, lane);
    if (task.none()) break;
    const auto [tile, first, end] = task;
    const int row0 = tile.first_row + consumer * 64;
    // Key tiles below `unmasked` need no mask.
    const int unmasked =
        min(schedule.seq_k, Tiles::kCausal ? max(0, row0 + schedule.shift + 1) : schedule.seq_k) / kKeys;
    auto mask = [&](int n) { mask_scores<Tiles>(s, schedule, row0 + row_in_group, n * kKeys); };
    const ForwardRows<Tiles> rows(out, schedule, tile, consumer * 64 + row_in_group);
    softmax.begin();
    barrier_wait(barriers.q_full + 8 * consumer, round & 1);
    if (first == end) {  // rows that see no key
      arrive(barriers.q_empty + 8 * consumer);
      rows.store_nothing_seen();
      continue;
    }
    // First tile: no P V to overlap with.
    barrier_wait(barriers.k_full + 8 * stage_k, phase_k);
    pin(s);
    product_fence();
    scores();
    product_wait<0>();
    pin(s);
    release_k();
    if (first >= unmasked) mask(first);
    first_softmax(softmax);
    clear(o);
    softmax.template pack_into<T>(p);
    // Scores of tile n, outputs of tile n - 1, softmax of tile n.
    auto step = [&](int n, auto masked) {
      barrier_wait(barriers.k_full + 8 * stage_k, phase_k);
      named_sync(1 + consumer, 256);
      pin(s), pin(o), pin(p);
      product_fence();
      scores();
      barrier_wait(barriers.v_full + 8 * stage_v, phase_v);
      product_fence();
      outputs();
      named_arrive(1 + (consumer + 1) % Tiles::kGroups, 256);
      product_wait<1>();  // scores are complete, outputs are pending
      pin(s);
      release_k();
      if constexpr (decltype(masked)::value) mask(n);
#pragma unroll
      for (int k = 0; k < softmax.kPieces; ++k) softmax.maximum_piece(k);
      softmax.finish_maximum();
#pragma unroll
      for (int k = 0; k < softmax.kPieces; ++k) {
        if (k == Tiles::kHold) {
          // Waiting on a barrier whose phase has completed is cheap and ends a basic block. Without it, ptxas hoists
          // the wait for the outputs above all exponentials; without order_after(), it may do the opposite.
          barrier_wait(barriers.v_full + 8 * stage_v, phase_v);
          wait_outputs();
          if constexpr (Tiles::kOrdered) softmax.order_after(o[0], o[2]);
        }
        softmax.exponential_piece(k);
      }
      softmax.finish_sum();
      softmax.template pack_into<T>(p);
      if (softmax.raised) {
#pragma unroll
        for (int i = 0; i < kD / 2; ++i) o[i] *= softmax.correction[i / 2 % 2];
        softmax.set_limits();
      }
    };
    // With a causal mask, the tiles from `own_end` on are seen by other consumers only.
    const int own_end =
        Tiles::kCausal ? max(first + 1, min(end, (row0 + 64 + schedule.shift + kKeys - 1) / kKeys)) : end;
    // Steps without a mask do not need the number of their tile; a loop over it spills at d 256 with split-KV.
    const int plain = max(0, min(unmasked, own_end) - first - 1);
#pragma unroll 1
    for (int left = plain; left > 0; --left) step(0, std::false_type{});
#pragma unroll 1
    for (int n = first + 1 + plain; n < own_end; ++n) step(n, std::true_type{});
    arrive(barriers.q_empty + 8 * consumer);
    barrier_wait(barriers.v_full + 8 * stage_v, phase_v);
    pin(o), pin(p);
    product_fence();
    outputs();
    if constexpr (Tiles::kCausal) {
#pragma unroll 1
      for (int n = own_end; n < end; ++n) {
        named_sync(1 + consumer, 256);
        named_arrive(1 + (consumer + 1) % Tiles::kGroups, 256);
        barrier_wait(barriers.k_full + 8 * stage_k, phase_k);
        release_k();
      }
    }
    // Computed while the last P V runs: row sums, log-sum-exp.
    float inverse[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = softmax.row_sum(r);
      inverse[r] = sum == 0.f ? 0.f : 1.f / sum;
      rows.store_sum(r, softmax.reference[r], sum, softmax.c);
    }
    wait_outputs();
    if constexpr (Tiles::kCausal) {
#pragma unroll 1
      for (int n = own_end; n < end; ++n) {
        barrier_wait(barriers.v_full + 8 * stage_v, phase_v);
        release_v();
      }
    }
    rows.store(o, inverse);
  }
}

}  // namespace kymo::flash

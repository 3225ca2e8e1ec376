// SPDX-License-Identifier: Apache-2.0
// The consumer warpgroups of the Hopper backward (see hopper_backward.cuh).
//
// At the end of a key block, S of the next one is computed while dQ, dK and dV are stored:
//
//   tensor | dK(last)   dQ(last)  S'(first) |                           | dP'(first) ...
//   other  | dQ(last-1) to shared           | dQ(last), dK, dV to shared |     exp: P'(first)
#pragma once
#include <type_traits>

#include "hopper_backward_products.cuh"

namespace kymo::flash {

/// after_first_issue: called when the first S of the thread block is issued. at_end: called while the stores of the
/// last gradients read shared memory.
template <class Tiles, class AfterFirstIssue, class AtEnd>
__device__ __forceinline__ void consume(const HopperBackwardCall& call, int consumer, uint32_t shared,
                                        const BackwardBarriers<Tiles>& barriers,
                                        const AfterFirstIssue& after_first_issue, const AtEnd& at_end) {
  using T = typename Tiles::T;
  constexpr int kD = Tiles::kD, kRows = Tiles::kRows, kKeys = Tiles::kKeys, kQStages = Tiles::kQStages,
                kOStages = Tiles::kOStages;
  constexpr int kEarlyLse = Tiles::kEarlyLse;
  constexpr bool kAddsDq = !Tiles::kShort;  // otherwise, other thread blocks compute dQ
  const int thread = threadIdx.x & 127, warp = __shfl_sync(kWholeWarp, thread >> 5, 0), lane = thread & 31,
            quad = lane & 3;
  float dk[kD / 2], dv[kD / 2], s[kRows / 2], dp[kRows / 2], dq[32];
  uint32_t p16[kRows / 4], ds16[kRows / 4];  // P and dS as left operands

  // In the first of the two buffers of K and V: left operand of S and dP, right operand of dQ.
  const uint32_t key_rows = operand(shared) + consumer * 512;
  // dQ: at d 128, all 64 queries and this consumer's 64 columns; at d 64, this consumer's 64 queries.
  const uint32_t key_columns = operand(shared) + (kD == 128 ? consumer * (kKeys * 8) : 0),
                 ds_rows = kD == 128 ? 0 : consumer * 64 * 128;
  const uint32_t dq_to = shared + Tiles::kDq + consumer * Tiles::kDqBytes;
  const uint32_t ds_to = ds_half<Tiles>(shared, consumer, warp, lane);

  uint32_t round = 0, i = 0;  // number of the key block and of the tile, in this thread block
  uint32_t tiles;             // of the key block
  int keys_begin;             // its first key
  int q_stage, q_phase;       // of the tile whose S comes next
  auto arrive = [&](uint32_t barrier) {
    if (lane == 0) barrier_arrive(barrier);
  };
  auto near = [](uint32_t base) {
    return kD == 128 ? opaque(base) : base;
  };  // at d 128, no registers are left to keep descriptors in
  // K is in buffer round % 2, V in the other one.
  auto keys = [&](uint32_t base, uint32_t buffer) { return near(base) + (buffer & 1) * (Tiles::kKeyBytes / 16); };
  auto issue_s = [&](int stage, uint32_t of_round) {
    issue_rows<Tiles>(s, keys(key_rows, of_round), operand(shared + Tiles::kQ + stage * Tiles::kQBytes));
  };
  auto issue_dp = [&](int stage) {
    issue_rows<Tiles>(dp, keys(key_rows, round + 1), operand(shared + Tiles::kO + stage * Tiles::kQBytes));
  };
  auto issue_dq = [&](uint32_t buffer) {
    const uint32_t a = operand(shared + Tiles::kDs + buffer * Tiles::kDsBytes + ds_rows), b = keys(key_columns, round);
    product_fence();
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      const uint64_t left = descriptor(a, step / 4 * kRows * 128 + step % 4 * 32), right = descriptor(b, step * 2048);
      if (step == 0)
        Wgmma<T, 64>::template shared_first<true>(dq, left, right);
      else
        Wgmma<T, 64>::template shared<true>(dq, left, right);
    }
    product_commit();
  };
  // Stores dQ of tile i to shared memory in fragment order. It is published separately and later, when the stores have
  // completed and the fence is short.
  auto store_dq = [&](uint32_t i) {
    barrier_wait(barriers.dq_empty + 8 * consumer, (i & 1) ^ 1);
    store_fragments(dq_to + thread * 16, dq);
  };
  auto publish_dq = [&] {
    fence_shared();
    __syncwarp();
    arrive(barriers.dq_full + 8 * consumer);
  };
  auto issue_dv = [&](int stage) {
    issue_columns<Tiles>(dv, p16, operand(shared + Tiles::kO + stage * Tiles::kQBytes, kRows * 128));
  };
  // S(i) is pending. Leaves P in s, with dP complete; at d 64, also P in p16, with dV(i) complete. done: stage of the Q
  // tile whose dK is pending, or -1.
  auto probabilities = [&](uint32_t i, auto first, int done) {
    const uint32_t o_stage = i % kOStages;
    barrier_wait(barriers.o_full + 8 * o_stage, i / kOStages & 1);
    issue_dp(o_stage);
    const uint32_t lse_at = shared + Tiles::kLse + (Tiles::kShort ? i : q_stage) * kRows * 4 + 8 * quad;
    float2 lse[kEarlyLse];
#pragma unroll
    for (int j = 0; j < kEarlyLse; ++j) lse[j] = load_shared2(lse_at + 32 * j);
    const int row0 = Tiles::kCausal ? static_cast<int>(uniform(barriers.first_row(q_stage))) : 0;
    product_wait<1>();
    pin(s);
    if (done >= 0) arrive(barriers.q_empty + 8 * done);
    mask_keys<Tiles>(s, call, keys_begin, consumer * 64, row0);
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      const float2 l = j < kEarlyLse ? lse[j < kEarlyLse ? j : 0] : load_shared2(lse_at + 32 * j);
      exponentials(s, j, l, call.scale_log2);
      if constexpr (!Tiles::kValuesLast) round_p<T>(p16, s, j);
    }
    if constexpr (kAddsDq && !decltype(first)::value) publish_dq();
    if constexpr (!Tiles::kValuesLast) issue_dv(o_stage);
    product_wait<0>();
    pin(dp);
    if constexpr (Tiles::kValuesLast)
      pin(s);  // P is rounded together with dS: in a register of its own, it would spill
  };
  // From P and dP of tile i, computes dS, dV(i) at d 128, dK(i) and dQ(i - 1), then S and P of tile i + 1.
  auto step = [&](auto first, auto last) {
    const uint32_t buffer = i & 1, o_now = i % kOStages;
    const uint32_t delta_at = shared + Tiles::kDelta + (Tiles::kShort ? i : o_now) * kRows * 4 + 8 * quad;
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      const float2 l = load_shared2(delta_at + 32 * j);
      if constexpr (Tiles::kValuesLast) round_p<T>(p16, s, j);
      round_ds<T>(ds16, s, dp, j, l);
    }
    if constexpr (decltype(last)::value) arrive(barriers.keys_empty + 8 * ((round + 1) & 1));  // V
    if constexpr (kAddsDq && decltype(first)::value && !Tiles::kSplitQ) {  // gradients of the previous key block
      if ((thread_now() & 127) == 0) wait_bulk_read();
      consumer ? named_sync(3, 128) : named_sync(2, 128);
    }
    if constexpr (kAddsDq) {
      if (i >= 2) barrier_wait(barriers.ds_empty + 8 * buffer, (i / 2 - 1) & 1);
      store_ds(ds_to + buffer * Tiles::kDsBytes, ds16);
    }
    const int q_now = q_stage;
    advance(q_stage, q_phase, kQStages);
    if constexpr (Tiles::kValuesLast) issue_dv(o_now);
    if constexpr (kAddsDq && !decltype(first)::value) {
      barrier_wait(barriers.ds_full + 8 * (buffer ^ 1), ((i - 1) / 2) & 1);
      issue_dq(buffer ^ 1);
    }
    issue_columns<Tiles>(dk, ds16, operand(shared + Tiles::kQ + q_now * Tiles::kQBytes, kRows * 128));
    if constexpr (kAddsDq) {
      fence_shared();  // after the wgmma issues, so that the tensor cores stay busy during the fence
      __syncwarp();
      arrive(barriers.ds_full + 8 * buffer);
    }
    if constexpr (Tiles::kValuesLast) {
      product_wait<decltype(first)::value || !kAddsDq ? 1 : 2>();  // dV(i) is done: its registers are free for S(i + 1)
      pin(p16);
    }
    arrive(barriers.o_empty + 8 * o_now);
    if constexpr (!decltype(last)::value) {
      barrier_wait(barriers.q_full + 8 * q_stage, q_phase);
      issue_s(q_stage, round);
    }
    if constexpr (kAddsDq && !decltype(first)::value) {
      product_wait<decltype(last)::value ? 1 : 2>();  // dQ(i - 1) is done; it is stored during dK(i) and S(i + 1)
      pin(dq);
      arrive(barriers.ds_empty + 8 * (buffer ^ 1));
      store_dq(i - 1);
    }
    if constexpr (decltype(last)::value) {
      product_wait<0>();
      arrive(barriers.q_empty + 8 * q_now);
      if constexpr (kAddsDq && !decltype(first)::value) publish_dq();
    } else {
      if constexpr (kD == 64) {  // the registers of dS are needed for dP: wait for dK too
        product_wait<1>();
        pin(ds16);
      }
      probabilities(i + 1, first, q_now);
    }
  };

  // Waits until S of the first tile of a key block can be computed, and issues it.
  auto begin_block = [&](uint32_t of_round, const SharedKeyBlock& block) {
    i = uniform(block.tiles_before());
    keys_begin = static_cast<int>(uniform(first_key<Tiles>(block)));
    q_stage = static_cast<int>(i % kQStages), q_phase = static_cast<int>(i / kQStages & 1);
    barrier_wait(barriers.keys_full + 8 * (of_round & 1), of_round & 1);
    barrier_wait(barriers.q_full + 8 * q_stage, q_phase);
    issue_s(q_stage, of_round);
  };
  auto receive = [&](uint32_t of_round) { return barriers.receive_block(static_cast<int>(of_round)); };
  // Stores dK and dV by way of this consumer's rows of dS, which are free when both consumers' last two dQ have read
  // them. At d 128, these have no room for dV; it passes through the buffer of dQ.
  auto store_gradients = [&](uint32_t last) {
    const SharedKeyBlock block = receive(round);
    const uint32_t rows = opaque(shared) + Tiles::kDs + consumer * (kRows * 128);
    if constexpr (kAddsDq && !Tiles::kSplitQ) {
      barrier_wait(barriers.ds_empty + 8 * (last & 1), (last / 2) & 1);
      if (last > 0) barrier_wait(barriers.ds_empty + 8 * ((last - 1) & 1), ((last - 1) / 2) & 1);
    }
    output_gradient_tile<Tiles>(dk, call.scale, call, block, consumer, {rows, Tiles::kDsBytes}, call.dk, call.dk_sums);
    if constexpr (kAddsDq && kD == 128 && !Tiles::kSplitQ) barrier_wait(barriers.dq_empty + 8 * consumer, last & 1);
    output_gradient_tile<Tiles>(dv, 1.f, call, block, consumer, {kD == 128 ? dq_to : rows + 64 * 128, 64 * 128},
                                call.dv, call.dv_sums);
    __syncwarp();
    if (lane == 0) barriers.release_block(static_cast<int>(round));
  };
  // dQ of the last tile, dK and dV.
  auto finish_block = [&](auto is_last) {
    constexpr bool kLast = decltype(is_last)::value;
    const uint32_t last = i;
    [[maybe_unused]] const uint32_t buffer = last & 1;
    if constexpr (kAddsDq) {
      barrier_wait(barriers.ds_full + 8 * buffer, (last / 2) & 1);
      issue_dq(buffer);
    }
    if constexpr (!kLast) begin_block(round + 1, receive(round + 1));
    product_wait<kLast ? 0 : 1>();
    if constexpr (kAddsDq) pin(dq);
    pin(dk), pin(dv);
    if constexpr (kAddsDq) arrive(barriers.ds_empty + 8 * buffer);
    arrive(barriers.keys_empty + 8 * (round & 1));  // K
    if constexpr (kAddsDq) {
      store_dq(last);
      publish_dq();
    }
    store_gradients(last);
    product_wait<0>();
    pin(s);
  };

  tiles = uniform(receive(0).tiles());
  if (tiles == 0) return;
  begin_block(0, receive(0));
  after_first_issue();
  product_wait<0>();
  pin(s);
#pragma unroll 1
  for (;; ++round) {
    const uint32_t end = i + tiles;
#pragma unroll
    for (int j = 0; j < kD / 2; ++j) dk[j] = dv[j] = 0;
    const bool skewed = tiles >= 4;  // consumer 1 starts one phase later, so that the two alternate on the tensor cores
    if (skewed && consumer == 1) named_sync(4, 256);
    barrier_wait(barriers.keys_full + 8 * ((round + 1) & 1), round & 1);  // V
    probabilities(i, std::true_type(), -1);
    if (skewed && consumer == 0) named_arrive(4, 256);
    if (tiles == 1) {
      step(std::true_type(), std::true_type());
    } else {  // first and last iteration are peeled: no wgmma may be pending across the loop's back edge
      step(std::true_type(), std::false_type());
#pragma unroll 1
      for (++i; i < end - 1; ++i) step(std::false_type(), std::false_type());
      step(std::false_type(), std::true_type());
    }
    tiles = uniform(receive(round + 1).tiles());
    if (tiles == 0) break;
    finish_block(std::false_type());
  }
  finish_block(std::true_type());
  at_end();
  if ((thread_now() & 127) == 0) wait_bulk_read();
}

}  // namespace kymo::flash

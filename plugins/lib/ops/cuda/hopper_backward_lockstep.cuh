// SPDX-License-Identifier: Apache-2.0
// Consumer warpgroups of the Hopper backward for longer sequences at d 128: tiles of 80 queries, both consumers in
// lockstep, in the order of FlashAttention-3 (Shah et al. 2024). Compared with tiles of 64 queries whose consumers
// alternate (hopper_backward_consumer.cuh), a query needs fewer accesses to shared memory, which limits both, and the
// accesses besides those of the MMAs do not coincide with S, dP and dQ, whose MMAs need all of its bandwidth. The GPU
// also needs less energy per query. But nothing overlaps with the ends of a key block.
//
//   tensor | S(i)   dP(i)         |            | dV(i)   dQ(i)   dK(i)        | S(i+1) ...
//   other  |      exp: P(i)       | dS(i)      |   both     dQ(i) to shared   |
//                                   to shared    consumers
//
// A token, passed with named barriers, lets consumer 0 issue S and dP of a tile before consumer 1: it then computes P
// and dS while the tensor cores compute those of consumer 1.
//
// dQ is computed transposed, 64 columns per consumer: the number of queries is no multiple of 64, the rows of an MMA.
// Registers: dK 64, dV 64, S 40, dP 40 (also used for dQ), P 20, dS 20.
//
// -lse / scale and -delta are added by one more MMA of 16 columns each, of ones and RowTerms. Loaded to registers, lse
// and delta would take 320 cycles of shared memory per tile, because a load gives each lane its own copy.
#pragma once
#include "hopper_backward_products.cuh"

namespace kymo::flash {

/// Stores the left operands that select a row's terms of S and, Tiles::kOnesBytes later, of dP. Both halves of the
/// columns are the same, of this operand and of the terms, hence 0.5.
template <class Tiles>
__device__ __forceinline__ void store_ones(uint32_t shared) {
  constexpr uint32_t kHalf = 0x3f00, kHalves = kHalf << 16 | kHalf;  // bf16
  if (threadIdx.x < 8) {
    const uint32_t to = shared + Tiles::kOnes + threadIdx.x * 16;
    store_shared4(to, kHalves, kHalf, 0u, 0u);
    store_shared4(to + Tiles::kOnesBytes, 0u, 0u, kHalves, kHalf);
  }
  fence_shared();
}

template <class Tiles>
__device__ __forceinline__ void consume_in_lockstep(const HopperBackwardCall& call, int consumer, uint32_t shared,
                                                    const BackwardBarriers<Tiles>& barriers) {
  using T = typename Tiles::T;
  constexpr int kD = Tiles::kD, kRows = Tiles::kRows, kKeys = Tiles::kKeys, kQStages = Tiles::kQStages,
                kOStages = Tiles::kOStages;
  const int thread = threadIdx.x & 127, warp = __shfl_sync(kWholeWarp, thread >> 5, 0), lane = thread & 31;
  float dk[kD / 2], dv[kD / 2], s[kRows / 2], dp[kRows / 2], dq[kRows / 2];
  uint32_t p16[kRows / 4], ds16[kRows / 4];  // P and dS as left operands

  // In the first of the two buffers of K and V: left operand of S and dP, left operand of dQ.
  const uint32_t key_rows = operand(shared) + consumer * 512, key_columns = operand(shared) + consumer * (kKeys * 8);
  const uint32_t dq_to = shared + Tiles::kDq + consumer * Tiles::kDqBytes,
                 ds_to = ds_half<Tiles>(shared, consumer, warp, lane);
  uint32_t round = 0, i;  // number of the key block and of the tile, in this thread block
  int keys_begin;         // first key of the block
  int q_stage, q_phase;
  auto arrive = [&](uint32_t barrier) {
    if (lane == 0) barrier_arrive(barrier);
  };
  // K is in buffer round % 2, V in the other one. Their descriptors are hidden: no registers are left to keep them in.
  auto keys = [&](uint32_t base, uint32_t buffer) { return opaque(base) + (buffer & 1) * (Tiles::kKeyBytes / 16); };
  auto issue_dq = [&](uint32_t buffer) {
    const uint32_t a = keys(key_columns, round), b = operand(shared + Tiles::kDs + buffer * Tiles::kDsBytes);
    product_fence();
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      const uint64_t left = descriptor(a, step * 2048), right = descriptor(b, step / 4 * kRows * 128 + step % 4 * 32);
      if (step == 0)
        Wgmma<T, kRows>::template shared_first<false, true>(dq, left, right);
      else
        Wgmma<T, kRows>::template shared<false, true>(dq, left, right);
    }
    product_commit();
  };
  // Issues acc = A B^T plus the terms of the tile that `ones` selects; a, b: operands of rows.
  auto issue_with_terms = [&](float (&acc)[kRows / 2], uint32_t a, uint32_t b, uint32_t ones) {
    const uint32_t terms = operand(shared + Tiles::kTerms + q_stage * Tiles::kTermBytes);
    product_fence();
    issue_by_rows<T, kD, kKeys, kRows>(acc, a, b);
    Wgmma<__nv_bfloat16, kRows>::template shared<false>(acc, half_row_descriptor<true>(operand(shared + ones)),
                                                        half_row_descriptor<false>(terms));
    product_commit();
  };
  // Leaves P in s, with dP pending.
  auto probabilities = [&](bool first) {
    const uint32_t o_stage = i % kOStages;
    barrier_wait(barriers.q_full + 8 * q_stage, q_phase);
    named_sync(5 + consumer, 256);
    issue_with_terms(s, keys(key_rows, round), operand(shared + Tiles::kQ + q_stage * Tiles::kQBytes), Tiles::kOnes);
    if (first) barrier_wait(barriers.keys_full + 8 * ((round + 1) & 1), round & 1);  // V
    barrier_wait(barriers.o_full + 8 * o_stage, i / kOStages & 1);
    issue_with_terms(dp, keys(key_rows, round + 1), operand(shared + Tiles::kO + o_stage * Tiles::kQBytes),
                     Tiles::kOnes + Tiles::kOnesBytes);
    named_arrive(6 - consumer, 256);
    const int row0 = Tiles::kCausal ? static_cast<int>(uniform(barriers.first_row(q_stage))) : 0;
    product_wait<1>();
    pin(s);
    mask_keys<Tiles>(s, call, keys_begin, consumer * 64, row0);
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) exponentials(s, j, {}, call.scale_log2);
  };
  // Waits for dP and computes P and dS as left operands.
  auto score_gradients = [&] {
    barrier_wait(barriers.q_full + 8 * q_stage, q_phase);  // completed; ends the basic block of the exponentials
    product_wait<0>();
    pin(dp), pin(s);
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      round_p<T>(p16, s, j);
      round_ds<T>(ds16, s, dp, j, {});
    }
  };
  auto process_tile = [&](bool first, bool last) {
    const uint32_t buffer = i & 1, o_stage = i % kOStages;
    probabilities(first);
    score_gradients();
    if (last) arrive(barriers.keys_empty + 8 * ((round + 1) & 1));  // V
    if (first && !Tiles::kSplitQ) {                                 // dK of the previous key block has left the buffers
      if ((thread_now() & 127) == 0) wait_bulk_read();
      consumer ? named_sync(3, 128) : named_sync(2, 128);
    }
    // Both consumers have read the last dS in this buffer: they have computed the dQ before this one.
    store_ds(ds_to + buffer * Tiles::kDsBytes, ds16);
    issue_columns<Tiles>(dv, p16, operand(shared + Tiles::kO + o_stage * Tiles::kQBytes, kRows * 128));
    fence_shared();  // after the issue of dV, so that the tensor cores stay busy during the fence
    named_sync(4, 256);
    issue_dq(buffer);
    product_wait<1>();  // dV; before dK is issued, which would delay the release of dO
    pin(p16);
    arrive(barriers.o_empty + 8 * o_stage);
    issue_columns<Tiles>(dk, ds16, operand(shared + Tiles::kQ + q_stage * Tiles::kQBytes, kRows * 128));
    product_wait<1>();
    pin(dq);
    if (last) arrive(barriers.keys_empty + 8 * (round & 1));  // K
    barrier_wait(barriers.dq_empty + 8 * consumer, (i & 1) ^ 1);
    store_fragments(dq_to + thread * 16, dq);
    fence_shared();
    __syncwarp();
    arrive(barriers.dq_full + 8 * consumer);
    product_wait<0>();
    pin(dk), pin(dv), pin(ds16);
    arrive(barriers.q_empty + 8 * q_stage);
    advance(q_stage, q_phase, kQStages);
  };
  // Stores dK by way of this consumer's rows of dS, which are free when both consumers have computed the last dQ, and
  // dV by way of the buffer of dQ.
  auto store_gradients = [&](uint32_t last) {
    const SharedKeyBlock block = barriers.receive_block(static_cast<int>(round));
    if constexpr (!Tiles::kSplitQ) named_sync(4, 256);
    const uint32_t rows = opaque(shared) + Tiles::kDs + consumer * (kRows * 128);
    output_gradient_tile<Tiles>(dk, call.scale, call, block, consumer, {rows, Tiles::kDsBytes}, call.dk, call.dk_sums);
    if constexpr (!Tiles::kSplitQ) barrier_wait(barriers.dq_empty + 8 * consumer, last & 1);
    output_gradient_tile<Tiles>(dv, 1.f, call, block, consumer, {dq_to, 64 * 128}, call.dv, call.dv_sums);
    __syncwarp();
    if (lane == 0) barriers.release_block(static_cast<int>(round));
  };
  if (consumer == 1) named_arrive(5, 256);  // the token starts with consumer 0
#pragma unroll 1
  for (;; ++round) {
    const SharedKeyBlock block = barriers.receive_block(static_cast<int>(round));
    const uint32_t tiles = uniform(block.tiles());
    if (tiles == 0) break;
    i = uniform(block.tiles_before());
    keys_begin = static_cast<int>(uniform(first_key<Tiles>(block)));
    q_stage = static_cast<int>(i % kQStages), q_phase = static_cast<int>(i / kQStages & 1);
#pragma unroll
    for (int j = 0; j < kD / 2; ++j) dk[j] = dv[j] = 0;
    barrier_wait(barriers.keys_full + 8 * (round & 1), round & 1);  // K
    const uint32_t end = i + tiles;
    bool first = true;
#pragma unroll 1
    for (; i < end; ++i) process_tile(first, i + 1 == end), first = false;
    store_gradients(end - 1);
  }
  if ((thread_now() & 127) == 0) wait_bulk_read();
}

}  // namespace kymo::flash

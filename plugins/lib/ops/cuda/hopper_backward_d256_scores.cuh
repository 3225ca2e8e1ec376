// SPDX-License-Identifier: Apache-2.0
// The consumer warpgroup that keeps dK in the Hopper backward above head size 128 (see hopper_backward_d256.cuh).
#pragma once
#include <type_traits>

#include "hopper_backward_d256_consumer.cuh"

namespace kymo::flash {

/// Computes dP, dS and dK.
template <class Tiles>
__device__ __forceinline__ void consume_scores(const HopperBackwardCall& call, const KeyBlock& block, uint32_t shared,
                                               const BackwardBarriers<Tiles>& barriers) {
  using T = typename Tiles::T;
  constexpr int kRows = Tiles::kRows;
  const int thread = threadIdx.x & 127, warp = __shfl_sync(kWholeWarp, thread >> 5, 0), lane = thread & 31;
  const Consumer256<Tiles, 1> consumer{shared, barriers, thread, lane};
  float dk[Tiles::kD / 2] = {}, dp[kRows / 2], dq_a[kRows / 2], dq_b[kRows / 2];
  uint32_t ds16[kRows / 4];
  const uint32_t ds_to = ds_half<Tiles>(shared, 0, warp, lane);  // all of dS: it has 64 keys
  int o_stage = 0, o_phase = 0;

  auto issue_dp = [&] {
    barrier_wait(barriers.o_full + 8 * o_stage, o_phase);
    consumer.issue_rows(dp, shared + Tiles::kV, shared + Tiles::kO + o_stage * Tiles::kQBytes);
  };
  // Only dP(i) is pending. Leaves dS in ds16 and in shared memory, to be published.
  auto score_gradients = [&](int i) {
    const uint32_t delta_at = shared + Tiles::kDelta + o_stage * (kRows * 4) + 8 * (lane & 3);
    float2 delta[kRows / 8];
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) delta[j] = load_shared2(delta_at + 32 * j);
    product_wait<0>();
    pin(dp);
    __syncwarp();
    consumer.arrive(barriers.o_empty + 8 * o_stage);
    advance(o_stage, o_phase, Tiles::kOStages);
    barrier_wait(barriers.p_full, i & 1);
    uint32_t p16[kRows / 4];
#pragma unroll
    for (int j = 0; j < 4; ++j) load_shared4(shared + Tiles::kP + j * 2048 + thread * 16, p16 + 4 * j);
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      const float2 low = unpack<T>(p16[2 * j]), high = unpack<T>(p16[2 * j + 1]);
      ds16[2 * j] = pack<T>(low.x * (dp[4 * j] - delta[j].x), low.y * (dp[4 * j + 1] - delta[j].y));
      ds16[2 * j + 1] = pack<T>(high.x * (dp[4 * j + 2] - delta[j].x), high.y * (dp[4 * j + 3] - delta[j].y));
    }
    __syncwarp();
    consumer.arrive(barriers.p_empty);
    barrier_wait(barriers.ds_empty, (i & 1) ^ 1);
    store_ds(ds_to, ds16);
  };
  // From dS of tile i, computes dK(i), dQ(i), and dS of tile i + 1.
  auto step = [&](int i, auto last) {
    constexpr bool kLast = decltype(last)::value;
    barrier_wait(barriers.q_full + 8 * (i & 1), (i >> 1) & 1);
    consumer.issue_columns(dk, ds16, shared + Tiles::kQ + (i & 1) * Tiles::kQBytes);
    consumer.publish(barriers.ds_full);  // after the wgmma issues, so that the tensor cores stay busy meanwhile
    barrier_wait(barriers.ds_full, i & 1);
    consumer.template issue_dq<0>(dq_a);
    consumer.template issue_dq<1>(dq_b);
    product_wait<2>();
    consumer.arrive(barriers.q_empty + 8 * (i & 1));
    product_wait<1>();
    pin(dq_a);
    consumer.template store_dq<0>(dq_a, i);
    if constexpr (!kLast) issue_dp();
    product_wait<kLast ? 0 : 1>();
    pin(dq_b);
    consumer.arrive(barriers.ds_empty);
    consumer.template store_dq<1>(dq_b, i);
    if constexpr (!kLast) score_gradients(i + 1);
  };

  barrier_wait(barriers.k, 0);
  barrier_wait(barriers.v, 0);
  issue_dp();
  score_gradients(0);
#pragma unroll 1
  for (int i = 0; i < block.tiles() - 1; ++i) step(i, std::false_type());
  step(block.tiles() - 1, std::true_type());
  pin(dk);
  barrier_wait(barriers.ds_empty, (block.tiles() - 1) & 1);  // the last dQ of both consumers has read K
  output_gradient_tile<Tiles>(dk, call.scale, call, block, 1, {shared, Tiles::kKeys * 128}, call.dk, call.dk_sums);
  if (thread == 0) wait_bulk_read();
}

}  // namespace kymo::flash

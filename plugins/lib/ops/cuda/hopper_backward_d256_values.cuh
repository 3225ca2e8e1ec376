// SPDX-License-Identifier: Apache-2.0
// The consumer warpgroup that keeps dV in the Hopper backward above head size 128 (see hopper_backward_d256.cuh).
#pragma once
#include <type_traits>

#include "hopper_backward_d256_consumer.cuh"

namespace kymo::flash {

/// Computes S, P and dV.
template <class Tiles>
__device__ __forceinline__ void consume_values(const HopperBackwardCall& call, const KeyBlock& block, uint32_t shared,
                                               const BackwardBarriers<Tiles>& barriers) {
  using T = typename Tiles::T;
  constexpr int kRows = Tiles::kRows;
  const int thread = threadIdx.x & 127, lane = thread & 31;
  const Consumer256<Tiles, 0> consumer{shared, barriers, thread, lane};
  constexpr int kLastPanel = Tiles::panels(0) - 1;                               // of dQ: 1, or 0 up to head size 192
  float dv[Tiles::kD / 2] = {}, s[kRows / 2], dq_a[kRows / 2], dq_b[kRows / 2];  // dq_b: the last panel
  uint32_t p16[kRows / 4];
  TileWalk<Tiles> walk(call, block);  // of the tile whose P comes next
  int o_stage = 0, o_phase = 0;

  auto issue_s = [&](int i) {
    barrier_wait(barriers.q_full + 8 * (i & 1), (i >> 1) & 1);
    consumer.issue_rows(s, shared, shared + Tiles::kQ + (i & 1) * Tiles::kQBytes);
  };
  // S(i) is pending, followed by `later` MMA groups. Leaves P in p16 and a copy for the other consumer.
  auto probabilities = [&](int i, auto later) {
    const uint32_t lse_at = shared + Tiles::kLse + (i & 1) * (kRows * 4) + 8 * (lane & 3);
    product_wait<decltype(later)::value>();
    pin(s);
    mask_keys<Tiles>(s, call, first_key<Tiles>(block), 0, walk.tile * kRows);
    walk.next(call, block);
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      const float2 l = load_shared2(lse_at + 32 * j);
      exponentials(s, j, l, call.scale_log2);
      round_p<T>(p16, s, j);
    }
    barrier_wait(
        barriers.p_empty,
        (i & 1) ^ 1);  // completed long before; keeps the wait for dQ from being hoisted above the exponentials
#pragma unroll
    for (int j = 0; j < 4; ++j)
      store_shared4(shared + Tiles::kP + j * 2048 + thread * 16, p16[4 * j], p16[4 * j + 1], p16[4 * j + 2],
                    p16[4 * j + 3]);
    __syncwarp();
    consumer.arrive(barriers.p_full);
    consumer.arrive(barriers.q_empty + 8 * (i & 1));
  };
  // From P of tile i, computes dV(i), dQ(i), and P of tile i + 1.
  auto step = [&](int i, auto last) {
    constexpr bool kLast = decltype(last)::value;
    barrier_wait(barriers.o_full + 8 * o_stage, o_phase);
    consumer.issue_columns(dv, p16, shared + Tiles::kO + o_stage * Tiles::kQBytes);
    if (i > 0) consumer.template store_dq<kLastPanel>(dq_b, i - 1);
    if constexpr (!kLast) issue_s(i + 1);  // not earlier: there are not enough registers
    product_wait<kLast ? 0 : 1>();
    consumer.arrive(barriers.o_empty + 8 * o_stage);
    advance(o_stage, o_phase, Tiles::kOStages);
    barrier_wait(barriers.ds_full, i & 1);
    if constexpr (kLastPanel > 0)
      consumer.template issue_dq<0>(dq_a);
    else
      consumer.template issue_dq<0>(dq_b);
    if constexpr (!kLast) probabilities(i + 1, std::integral_constant<int, 1>());
    if constexpr (kLastPanel > 0) {
      product_wait<0>();
      pin(dq_a);
      consumer.template issue_dq<1>(dq_b);  // not together with the first panel: P needs the registers
      consumer.template store_dq<0>(dq_a, i);
    }
    product_wait<0>();
    pin(dq_b);
    consumer.arrive(barriers.ds_empty);
  };

  barrier_wait(barriers.k, 0);
  issue_s(0);
  probabilities(0, std::integral_constant<int, 0>());
#pragma unroll 1
  for (int i = 0; i < block.tiles() - 1; ++i) step(i, std::false_type());
  step(block.tiles() - 1, std::true_type());
  pin(dv);
  consumer.template store_dq<kLastPanel>(dq_b, block.tiles() - 1);
  output_gradient_tile<Tiles>(dv, 1.f, call, block, 0, {shared + Tiles::kV, Tiles::kKeys * 128}, call.dv,
                              call.dv_sums);  // its last reader, dP, completed before the last dS
  if (thread == 0) wait_bulk_read();
}

}  // namespace kymo::flash

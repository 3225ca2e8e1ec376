// SPDX-License-Identifier: Apache-2.0
// The Hopper forward with pipelining across query tiles. It differs from hopper_forward.cuh only at the boundary
// between two query tiles. There, a tile starts with scores that no P V overlaps, once its Q is loaded, and ends with a
// P V and stores that no scores overlap. Here, the boundary is a regular pipeline step (a prime marks the next query
// tile):
//
//   consumer 0 | QK1 PV2 softmax1 | QK0 PV1 softmax0 | QK'3 PV0 softmax'3, write O | QK'2 PV'3 softmax'2 | ...
//
// This requires two stages of Q, and a load thread each for K, V and Q, which runs ahead into the next tile as far as
// its circular buffer allows. Rows that see no key get one fully masked key tile, so that every tile has a first step
// and the pipeline needs no special cases.
#pragma once
#include "hopper_forward.cuh"

namespace kymo::flash {

/// Loop of one thread that loads the key or value tiles of successive query tiles. The thread that loads keys also
/// determines the next task.
template <class Tiles, bool kFindsNext>
__device__ __forceinline__ void load_ring(const CUtensorMap* map, const ForwardSchedule& schedule, uint32_t to,
                                          uint32_t full, uint32_t empty, const ForwardBarriers<Tiles>& barriers) {
  int stage = 0, phase = 1, number = kFindsNext ? schedule.first_number<Tiles>() : 0;
#pragma unroll 1
  for (int round = 0;; ++round) {
    const ForwardTask task = kFindsNext ? schedule.task<Tiles>(number) : barriers.hear_task(round);
    if constexpr (kFindsNext) {
      barriers.tell_task(round, task);
      number = schedule.next_number<Tiles>(round);
    }
    if (task.none()) break;
#pragma unroll 1
    for (int n = task.end - 1; n >= 0; --n) {
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
__device__ __forceinline__ void load_chained(const HopperForwardMaps& maps, const ForwardSchedule& schedule,
                                             uint32_t q_tiles, uint32_t k_tiles, uint32_t v_tiles,
                                             const ForwardBarriers<Tiles>& barriers) {
  if (threadIdx.x == 0) {
    load_ring<Tiles, true>(&maps.k, schedule, k_tiles, barriers.k_full, barriers.k_empty, barriers);
  } else if (threadIdx.x == 32) {
    load_ring<Tiles, false>(&maps.v, schedule, v_tiles, barriers.v_full, barriers.v_empty, barriers);
  } else if (threadIdx.x == 64) {
    load_queries<Tiles>(maps, q_tiles, barriers);
  }
}

}  // namespace kymo::flash

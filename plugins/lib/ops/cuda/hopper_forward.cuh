// SPDX-License-Identifier: Apache-2.0
// FlashAttention forward for Hopper (sm_90a): wgmma, TMA, warp specialization; bf16 and fp16, fp32 accumulation.
//
// One persistent block per SM, which loops over tiles (kGroups * 64 query rows of one head each; hopper_schedule.cuh):
// a producer warpgroup (warp 0 loads K and V, warp 1 loads Q; one thread each) and kGroups consumer warpgroups of 64
// query rows. K and V pass through circular buffers of kStages tiles of kKeys rows in shared memory, first tile first:
// with a causal mask, rows then see many keys in their first tile, which sets the reference of the softmax. A prime
// marks the next query tile:
//
//   producer   | Q K0 | K1 V0 | K2 V1 | K3 V2 | V3 | Q' K0' ...
//   consumer 0 | QK0 softmax0 | QK1 PV0 softmax1 | QK2 PV1 softmax2 | QK3 PV2 softmax3 | PV3, write O
//   consumer 1 |         QK0 softmax0 | QK1 PV0 softmax1 | QK2 PV1 softmax2 | ...
//
// The softmax is hidden by:
//
//   * ping-pong: a token passed with named barriers lets one warpgroup issue its two MMAs while another one computes
//     its softmax;
//   * overlap within a warpgroup: Q K^T of the next tile is issued before P V of this one, so that scores arrive while
//     P V runs. The wait for P V comes after kHold pieces of the exponentials; from there on, sums and packing P use
//     the issue slots that the exponentials (one per 8 cycles and scheduler) leave free.
//
// P never leaves registers: after rounding, the accumulator layout of S is the layout of a left operand. Intermediate
// head sizes: TMA fills the columns past d with zeros, and they are not stored.
#pragma once
#include "hopper_schedule.cuh"
#include "hopper_softmax.cuh"

namespace kymo::flash {

template <class T_, int kD_, int kKeys_, int kGroups_, int kHold_, bool kCausal_, bool kPipelined_ = false,
          bool kSplitKv_ = false>
struct HopperForwardTiles {
  using T = T_;
  static constexpr int kD = kD_, kKeys = kKeys_, kGroups = kGroups_;
  static constexpr int kStages = (kPipelined_ || kSplitKv_) && kD_ <= 64 ? 4 : kPipelined_ && kD_ <= 128 ? 3 : 2;
  static constexpr int kHold = kHold_;  // pieces of 16 exponentials before the wait for P V
  static constexpr bool kCausal = kCausal_;
  static constexpr bool kPipelined = kPipelined_;  // hopper_forward_pipelined.cuh
  static constexpr bool kSplitKv =
      kSplitKv_;  // split-KV (forward_splits.hpp): fp32 outputs, maxima and sums of each split
  // For tiles of 192 queries, the order of ptxas is 1 to 2 % faster.
  static constexpr bool kOrdered = kGroups == 2;
  static constexpr int kRows = 64 * kGroups, kThreads = 128 * (kGroups + 1), kPanels = (kD + 63) / 64;
  static constexpr int kQBytes = kRows * kPanels * 128, kKeyBytes = kKeys * kPanels * 128;
  static constexpr int kBarrierBytes =
      2 * 8 * kGroups + 4 * 8 * kStages + 2 * (16 + 32);  // with two task slots: ForwardBarriers
  static constexpr int kShared = 1024 + kQBytes + 2 * kStages * kKeyBytes + kBarrierBytes;
  static constexpr int kProducerRegisters = kGroups == 3 ? 32 : 24, kConsumerRegisters = kGroups == 3 ? 160 : 240;
  static_assert((kGroups == 2 || kGroups == 3) && kShared <= 227 * 1024);
};

struct HopperForwardMaps {
  CUtensorMap q, k, v;
};

/// mbarriers, after the tiles in shared memory. Each consumer warpgroup has its own slice of Q, so that a warpgroup
/// that ends its tile early can start the next one early.
template <class Tiles>
struct ForwardBarriers {
  uint32_t q_full, q_empty, k_full, k_empty, v_full, v_empty;
  uint32_t task_full, task_empty, tasks;  // two slots of 32 bytes
  __device__ __forceinline__ explicit ForwardBarriers(uint32_t at)
      : q_full(at),
        q_empty(at + 8 * Tiles::kGroups),
        k_full(q_empty + 8 * Tiles::kGroups),
        k_empty(k_full + 8 * Tiles::kStages),
        v_full(k_empty + 8 * Tiles::kStages),
        v_empty(v_full + 8 * Tiles::kStages),
        task_full(v_empty + 8 * Tiles::kStages),
        task_empty(task_full + 16),
        tasks(task_empty + 16) {}
  __device__ __forceinline__ void init() const {
    for (int i = 0; i < Tiles::kGroups; ++i) barrier_init(q_full + 8 * i, 1), barrier_init(q_empty + 8 * i, 4);
    for (int i = 0; i < Tiles::kStages; ++i) {
      barrier_init(k_full + 8 * i, 1), barrier_init(v_full + 8 * i, 1);
      barrier_init(k_empty + 8 * i, 4 * Tiles::kGroups), barrier_init(v_empty + 8 * i, 4 * Tiles::kGroups);
    }
    for (int i = 0; i < 2; ++i)
      barrier_init(task_full + 8 * i, 1),
          barrier_init(task_empty + 8 * i, 4 * Tiles::kGroups + (Tiles::kPipelined ? 2 : 1));
    barriers_ready();
  }
  /// Publishes the task of `round`. Only the thread that loads keys computes it, because this takes several divisions.
  __device__ __forceinline__ void publish_task(int round, const ForwardTask& task) const {
    const QueryTile& tile = task.queries;
    const uint32_t to = tasks + 32 * (round & 1);
    barrier_wait(task_empty + 8 * (round & 1), ((round >> 1) & 1) ^ 1);
    const auto bits = [](int number) { return static_cast<uint32_t>(number); };
    store_shared4(to, bits(tile.batch), bits(tile.head), bits(tile.head_kv), bits(tile.first_row));
    store_shared4(to + 16, bits(task.first), bits(task.end), 0u, 0u);
    barrier_arrive(task_full + 8 * (round & 1));
  }
  /// Receives the task in one thread.
  __device__ __forceinline__ ForwardTask receive_task(int round) const {
    const ForwardTask task = read_task(round);
    barrier_arrive(task_empty + 8 * (round & 1));
    return task;
  }
  /// Receives the task in a warp; the first lane signals that all lanes have read it.
  __device__ __forceinline__ ForwardTask receive_task(int round, int lane) const {
    const ForwardTask task = read_task(round);
    __syncwarp();
    if (lane == 0) barrier_arrive(task_empty + 8 * (round & 1));
    return task;
  }
  __device__ __forceinline__ ForwardTask read_task(int round) const {
    barrier_wait(task_full + 8 * (round & 1), (round >> 1) & 1);
    const uint32_t from = tasks + 32 * (round & 1);
    uint32_t words[8];
    load_shared4(from, words), load_shared4(from + 16, words + 4);
    const auto number = [&](int i) { return static_cast<int>(words[i]); };
    return {{number(0), number(1), number(2), number(3)}, number(4), number(5)};
  }
};

template <class Tiles>
__device__ __forceinline__ void load_keys_and_values(const HopperForwardMaps& maps, const ForwardSchedule& schedule,
                                                     uint32_t k_tiles, uint32_t v_tiles,
                                                     const ForwardBarriers<Tiles>& barriers) {
  int stage_k = 0, phase_k = 1, stage_v = 0, phase_v = 1;
  auto load = [&](uint32_t tiles, const CUtensorMap* map, uint32_t full, uint32_t empty, int& stage, int& phase, int n,
                  const QueryTile& tile) {
    barrier_wait(empty + 8 * stage, phase);
    barrier_expect(full + 8 * stage, Tiles::kKeyBytes);
#pragma unroll
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      load_box(tiles + stage * Tiles::kKeyBytes + panel * Tiles::kKeys * 128, map, full + 8 * stage,
               {panel * 64, n * Tiles::kKeys, tile.head_kv, tile.batch});
    advance(stage, phase, Tiles::kStages);
  };
  int number = schedule.first_number<Tiles>();
#pragma unroll 1
  for (int round = 0;; ++round) {
    const ForwardTask task = schedule.task<Tiles>(number);
    barriers.publish_task(round, task);
    if (task.none()) break;
    number = schedule.next_number<Tiles>(round);
    if (round == 0) wait_for_prerequisites();
#pragma unroll 1
    for (int n = task.first; n <= task.end; ++n) {  // K runs one tile ahead of V
      if (n < task.end) load(k_tiles, &maps.k, barriers.k_full, barriers.k_empty, stage_k, phase_k, n, task.queries);
      if (n > task.first)
        load(v_tiles, &maps.v, barriers.v_full, barriers.v_empty, stage_v, phase_v, n - 1, task.queries);
    }
  }
}

template <class Tiles>
__device__ __forceinline__ void load_queries(const HopperForwardMaps& maps, uint32_t q_tile,
                                             const ForwardBarriers<Tiles>& barriers) {
#pragma unroll 1
  for (int round = 0;; ++round) {
    const ForwardTask task = barriers.receive_task(round);
    if (task.none()) break;
    const QueryTile& tile = task.queries;
    if (round == 0) wait_for_prerequisites();
#pragma unroll 1
    for (int i = 0; i < Tiles::kGroups; ++i) {
      barrier_wait(barriers.q_empty + 8 * i, (round & 1) ^ 1);
      barrier_expect(barriers.q_full + 8 * i, Tiles::kQBytes / Tiles::kGroups);
#pragma unroll
      for (int panel = 0; panel < Tiles::kPanels; ++panel)
        load_box(q_tile + panel * Tiles::kRows * 128 + i * 64 * 128, &maps.q, barriers.q_full + 8 * i,
                 {panel * 64, tile.first_row + i * 64, tile.head, tile.batch});
    }
  }
}

}  // namespace kymo::flash

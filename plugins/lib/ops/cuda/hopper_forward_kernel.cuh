// SPDX-License-Identifier: Apache-2.0
// The Hopper forward kernel, which dispatches to its producer and consumers, and its launch.
#pragma once
#include "forward_combine.cuh"
#include "hopper_forward_consumer.cuh"
#include "hopper_forward_pipelined.cuh"
#include "launch.cuh"
#include "tensor_map.hpp"

namespace kymo::flash {

template <class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, 1)
    hopper_forward(const __grid_constant__ HopperForwardMaps maps, const __grid_constant__ ForwardSchedule schedule,
                   const __grid_constant__ HopperForwardOutput out) {
  extern __shared__ uint8_t shared[];
  const uint32_t q_tile = (shared_address(shared) + 1023) & ~1023u, k_tiles = q_tile + Tiles::kQBytes;
  const uint32_t v_tiles = k_tiles + Tiles::kStages * Tiles::kKeyBytes;
  const ForwardBarriers<Tiles> barriers(v_tiles + Tiles::kStages * Tiles::kKeyBytes);
  if (threadIdx.x < 3) prefetch_map(&maps.q + threadIdx.x);
  if (threadIdx.x == 0) barriers.init();
  __syncthreads();
  launch_dependents();
  const int warpgroup =
      __shfl_sync(kWholeWarp, threadIdx.x / 128, 0);  // the shuffle tells the compiler that the value is uniform
  if (warpgroup == 0) {
    release_registers<Tiles::kProducerRegisters>();
    // These threads wait for the previous kernel when they know their first tile, the others for what these load.
    if constexpr (Tiles::kPipelined)
      load_pipelined<Tiles>(maps, schedule, q_tile, k_tiles, v_tiles, barriers);
    else if (threadIdx.x == 0)
      load_keys_and_values<Tiles>(maps, schedule, k_tiles, v_tiles, barriers);
    else if (threadIdx.x == 32)
      load_queries<Tiles>(maps, q_tile, barriers);
  } else {
    acquire_registers<Tiles::kConsumerRegisters>();
    if constexpr (Tiles::kPipelined)
      consume_pipelined<Tiles>(out, schedule, warpgroup - 1, q_tile, k_tiles, v_tiles, barriers);
    else
      consume<Tiles>(out, schedule, warpgroup - 1, q_tile, k_tiles, v_tiles, barriers);
  }
}

template <class Tiles>
std::string forward_maps(HopperForwardMaps& maps, const Forward& call) {
  const Problem& p = call.problem;
  std::string message = make_map(maps.q, call.q, {p.batch, p.heads_q, p.seq_q, p.d}, p.element, 64);
  if (message.empty()) message = make_map(maps.k, call.k, {p.batch, p.heads_kv, p.seq_k, p.d}, p.element, Tiles::kKeys);
  if (message.empty()) message = make_map(maps.v, call.v, {p.batch, p.heads_kv, p.seq_k, p.d}, p.element, Tiles::kKeys);
  return message;
}

inline HopperForwardOutput forward_output(const Problem& p, const Output& o, float* lse) {
  const float scale_log2 = p.scale * kLog2E;
  return {o, lse, static_cast<int>(p.d), scale_log2, inverse_scale(scale_log2)};
}

template <class Tiles>
std::string launch_hopper_forward(const Forward& call, Stream stream) {
  const Problem& p = call.problem;
  HopperForwardMaps maps;
  if (std::string message = forward_maps<Tiles>(maps, call); !message.empty()) return message;
  int multiprocessors = 0;
  cudaError_t error = count_multiprocessors(multiprocessors);
  if (error != cudaSuccess) return failure("hopper_forward", error);
  ForwardSchedule schedule = forward_schedule(p, Tiles::kRows, static_cast<int*>(call.workspace));
  if (Tiles::kPipelined || schedule.tiles <= multiprocessors || !uses_tile_counter(p)) schedule.counter = nullptr;
  if (schedule.counter) error = cudaMemsetAsync(schedule.counter, 0, sizeof(int), stream);
  if (error != cudaSuccess) return failure("hopper_forward's counter", error);
  const HopperForwardOutput out = forward_output(p, call.o, call.lse);
  const int blocks = forward_blocks(schedule, p.causal && !Tiles::kPipelined, multiprocessors);
  if (Tiles::kPipelined && p.causal)
    schedule.pairs = forward_pairs(schedule.heads, schedule.row_tiles, blocks, schedule.heads_at_once);
  const LaunchShape shape{blocks, Tiles::kThreads, Tiles::kShared, stream, !schedule.counter};
  return failure("hopper_forward", queue(hopper_forward<Tiles>, shape, maps, schedule, out));
}

/// Split-KV as in forward_splits.hpp, followed by the reduction of the partials.
template <class Tiles>
std::string launch_split_forward(const Forward& call, Stream stream) {
  const Problem& p = call.problem;
  HopperForwardMaps maps;
  if (std::string message = forward_maps<Tiles>(maps, call); !message.empty()) return message;
  int multiprocessors = 0;
  if (const cudaError_t error = count_multiprocessors(multiprocessors); error != cudaSuccess)
    return failure("hopper_forward", error);
  ForwardSchedule schedule = forward_schedule(p, Tiles::kRows, nullptr);
  static_assert(split_kv_tile(false, Tiles::kD) == SplitKvTile{Tiles::kRows, Tiles::kKeys});
  schedule.splits = forward_splits(call, Tiles::kRows, Tiles::kKeys, multiprocessors);
  schedule.tiles = schedule.splits.count();
  auto* const outputs = static_cast<float*>(call.workspace);
  float* const sums = outputs + forward_space(schedule.splits, Tiles::kD).outputs;
  const HopperForwardOutput out = forward_output(p, {outputs}, sums);
  const LaunchShape shape{schedule.tiles, Tiles::kThreads, Tiles::kShared, stream, true};
  const std::string message = failure("hopper_forward", queue(hopper_forward<Tiles>, shape, maps, schedule, out));
  return message.empty() ? launch_combine<typename Tiles::T, Tiles::kD>(call, schedule.splits, stream) : message;
}

/// The instantiation for the call's element type, with or without a causal mask.
template <bool kCausal, int kD, int kKeys, int kGroups, int kHold, bool kPipelined = false, bool kSplitKv = false>
std::string launch_masked_forward(const Forward& call, Stream stream) {
  const auto launch = [&]<class T>() {
    using Tiles = HopperForwardTiles<T, kD, kKeys, kGroups, kHold, kCausal, kPipelined, kSplitKv>;
    if constexpr (kSplitKv)
      return launch_split_forward<Tiles>(call, stream);
    else
      return launch_hopper_forward<Tiles>(call, stream);
  };
  return call.problem.element == Element::kFloat16 ? launch.template operator()<__half>()
                                                   : launch.template operator()<__nv_bfloat16>();
}
template <int kD, int kKeys, int kGroups, int kHold, bool kPipelined = false, bool kSplitKv = false>
std::string launch_hopper_forward(const Forward& call, Stream stream) {
  return call.problem.causal
             ? launch_masked_forward<true, kD, kKeys, kGroups, kHold, kPipelined, kSplitKv>(call, stream)
             : launch_masked_forward<false, kD, kKeys, kGroups, kHold, kPipelined, kSplitKv>(call, stream);
}

}  // namespace kymo::flash

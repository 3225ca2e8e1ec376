// SPDX-License-Identifier: Apache-2.0
// The Hopper backward kernel, which dispatches to its warpgroup roles, and the launch of all three kernels.
#pragma once
#include "backward_splits.hpp"
#include "hopper_backward_consumer.cuh"
#include "hopper_backward_d256_scores.cuh"
#include "hopper_backward_d256_values.cuh"
#include "hopper_backward_lockstep.cuh"
#include "tensor_map.hpp"

namespace kymo::flash {

/// One key block per thread block.
template <class Tiles>
__device__ __forceinline__ void process_one_block(const HopperBackwardCall& call, int number, int warpgroup,
                                                  uint32_t shared, const BackwardBarriers<Tiles>& barriers) {
  const KeyBlock block = key_block<Tiles>(call, number);
  if (Tiles::kSplitQ && block.tiles() == 0) return;  // no query of this split sees these keys
  if (warpgroup == 0) {
    release_registers<24>();
    if (threadIdx.x == 0)
      load_one_block<Tiles>(call, block, shared, barriers);
    else if (threadIdx.x == 32)  // one per consumer
      add_dq_pieces<Tiles, 0>(call, block, shared, barriers);
    else if (threadIdx.x == 64)
      add_dq_pieces<Tiles, 1>(call, block, shared, barriers);
  } else {
    acquire_registers<240>();
    if constexpr (Tiles::kSplitQ) wait_for_begin<Tiles>();
    if (warpgroup == 1)
      consume_values<Tiles>(call, block, shared, barriers);
    else
      consume_scores<Tiles>(call, block, shared, barriers);
  }
}

/// A persistent thread block: processes key blocks until none is left.
template <class Tiles>
__device__ __forceinline__ void process_blocks(const HopperBackwardCall& call, int warpgroup, uint32_t shared,
                                               const BackwardBarriers<Tiles>& barriers) {
  if (warpgroup == 0) {
    release_registers<24>();
    if (threadIdx.x == 0)
      load_blocks<Tiles>(call, shared, barriers);
    else if (threadIdx.x == 32)  // one per consumer
      add_dq<Tiles, 0>(call, shared, barriers);
    else if (threadIdx.x == 64)
      add_dq<Tiles, 1>(call, shared, barriers);
    else if (threadIdx.x == 96)
      take_blocks<Tiles>(call, barriers);
  } else {
    acquire_registers<240>();
    if constexpr (Tiles::kEarlyFinish || Tiles::kSplitQ) wait_for_begin<Tiles>();
    if constexpr (Tiles::kLockstep)
      consume_in_lockstep<Tiles>(call, warpgroup - 1, shared, barriers);
    else
      consume<Tiles>(call, warpgroup - 1, shared, barriers, [] {}, [] {});
  }
}

template <class Tiles>
__global__ void __launch_bounds__(384, 1) hopper_backward(const __grid_constant__ HopperBackwardCall call) {
  extern __shared__ __align__(1024) uint8_t raw[];
  const uint32_t shared = (shared_address(raw) + 1023) & ~1023u;
  const BackwardBarriers<Tiles> barriers(shared + Tiles::kBarriers);
  const int warpgroup = __shfl_sync(kWholeWarp, threadIdx.x / 128, 0);
  if (threadIdx.x < 6) prefetch_map(&call.q + threadIdx.x);
  if (threadIdx.x == 0) barriers.init();
  if constexpr (Tiles::kLockstep) {
    if (shared != shared_address(raw)) __trap();  // there is no space to align it
    store_ones<Tiles>(shared);
  }
  if constexpr (Tiles::kPersistent) {
    __syncthreads();
    if constexpr (!Tiles::kEarlyFinish) launch_dependents();
    process_blocks<Tiles>(call, warpgroup, shared, barriers);
  } else {
    __shared__ int number;
    if (threadIdx.x == 0 && call.order) {
      wait_for_prerequisites();
      number = atomicAdd(call.next_block, 1);
    }
    __syncthreads();
    launch_dependents();
    process_one_block<Tiles>(call, call.order ? number : blockIdx.x, warpgroup, shared, barriers);
  }
}

/// Number of heads at the end of the grid, of `heads`, whose blocks are interleaved: those of the last block of each
/// SM, or all of them if an SM has at most two blocks. Measured; more heads would balance the SMs better, but their
/// data does not fit in L2.
inline int interleaved_heads(bool causal, int64_t heads, int key_blocks, int multiprocessors) {
  if (!causal) return 0;
  const int64_t of_last_blocks = std::max(1, multiprocessors / key_blocks);
  return static_cast<int>(heads <= 2 * of_last_blocks ? heads : of_last_blocks);
}

/// Sets what the kernels know about the tensors; returns a one-line error message, empty on success.
template <class Tiles>
std::string describe_tensors(const Backward& call, HopperBackwardCall& device) {
  const Problem& p = call.problem;
  const MapSizes of_queries{p.batch, p.heads_q, p.seq_q, p.d}, of_keys{p.batch, p.heads_kv, p.seq_k, p.d};
  std::string message = make_map(device.q, call.q, of_queries, p.element, Tiles::kRows);
  if (message.empty()) message = make_map(device.d_o, call.d_o, of_queries, p.element, Tiles::kRows);
  if (message.empty()) message = make_map(device.k, call.k, of_keys, p.element, Tiles::kKeys);
  if (message.empty()) message = make_map(device.v, call.v, of_keys, p.element, Tiles::kKeys);
  if (message.empty()) message = make_map(device.dk, call.dk, of_keys, p.element, 64);
  if (message.empty()) message = make_map(device.dv, call.dv, of_keys, p.element, 64);
  device.seq_k = static_cast<int>(p.seq_k), device.shift = static_cast<int>(p.seq_k - p.seq_q);
  device.heads_q = static_cast<int>(p.heads_q), device.heads_kv = static_cast<int>(p.heads_kv);
  device.group = device.block_heads = static_cast<int>(p.heads_q / p.heads_kv), device.head_splits = 1;
  device.query_tiles = static_cast<int>((p.seq_q + Tiles::kRows - 1) / Tiles::kRows);
  device.key_blocks = static_cast<int>((p.seq_k + Tiles::kKeys - 1) / Tiles::kKeys);
  device.scale = p.scale, device.scale_log2 = p.scale * kLog2E;
  return message;
}

template <class Tiles>
std::string launch_hopper_backward(const Backward& call, Stream stream) {
  using T = typename Tiles::T;
  const Problem& p = call.problem;
  HopperBackwardCall device{};
  if (std::string message = describe_tensors<Tiles>(call, device); !message.empty()) return message;
  const BackwardSpace space = backward_space(call, Tiles::kD, Tiles::kSplitQ, Tiles::kLockstep);
  const RowSums sums = row_sums(call, space, Tiles::kLockstep);
  // The first counter is that of the key blocks; the others are used by the early finish only.
  const int64_t counters = Tiles::kEarlyFinish ? space.counters : std::min<int64_t>(space.counters, Tiles::kPersistent);
  const int64_t zeroes = space.gradients + space.semaphores + counters;
  float* const accumulator = static_cast<float*>(call.workspace) + space.sums;
  const DqSpace dq{accumulator, Tiles::kD, zeroes ? reinterpret_cast<int*>(accumulator + space.accumulator) : nullptr,
                   zeroes};
  device.lse_log2 = sums.lse, device.delta = sums.delta, device.terms = sums.terms, device.dq = dq.sums;
  device.next_block = reinterpret_cast<int*>(accumulator + space.accumulator + space.gradients);
  device.counters = device.next_block + 1, device.order = space.semaphores ? device.next_block + 1 : nullptr;
  device.dk_sums = dq.sums + space.accumulator, device.dv_sums = device.dk_sums + space.gradients / 2;
  device.padded = sums.padded;
  cudaError_t error = begin_backward<T, Tiles::kD>(call, space, sums, dq, stream);
  if (error != cudaSuccess) return failure("backward_begin", error);
  int multiprocessors = 0;
  if (error = count_multiprocessors(multiprocessors); error != cudaSuccess) return failure("hopper_backward", error);
  int64_t blocks = key_blocks(p, Tiles::kKeys);
  if constexpr (Tiles::kSplitQ) {
    constexpr SplitQTile tile = split_q_tile(false, Tiles::kD, kMinSharedKb, Tiles::kLockstep);
    static_assert(tile.keys == Tiles::kKeys && tile.rows == Tiles::kRows);
    const QuerySplits splits = query_splits(p, tile, multiprocessors);
    device.split_tiles = splits.split_tiles, device.head_splits = splits.head_splits;
    blocks *= splits.count() * splits.head_splits;
  }
  device.interleaved =
      interleaved_heads(p.causal, p.batch * p.heads_kv * device.head_splits, device.key_blocks, multiprocessors);
  device.blocks = static_cast<int>(blocks), device.block_heads = device.group / device.head_splits;
  if (Tiles::kPersistent && !device.order) blocks = std::min<int64_t>(blocks, multiprocessors);
  error = queue(hopper_backward<Tiles>, {blocks, 384, Tiles::kShared, stream, true}, device);
  if (error != cudaSuccess) return failure("hopper_backward", error);
  if constexpr (Tiles::kSplitQ) {
    const LaunchShape out{(p.batch * p.heads_kv * p.seq_k * (Tiles::kD / 8) + 255) / 256, 256, 0, stream, true, 2};
    error =
        queue(gradients_out<T, Tiles::kD>, out, call, device.dk_sums, device.dv_sums, device.key_blocks * Tiles::kKeys);
    if (error != cudaSuccess) return failure("gradients_out", error);
  }
  const LaunchShape finish{query_blocks(p, Tiles::kRows), 256, 0, stream, true};
  const auto kernel = backward_finish<T, Tiles::kD, Tiles::kRows, Tiles::kEarlyFinish>;
  return failure("backward_finish",
                 queue(kernel, finish, call, dq.sums, device.query_tiles, device.counters, 2 * device.key_blocks));
}

/// Calls the instantiation for the call's element type and mask.
template <class Launch>
std::string by_element_and_mask(const Problem& p, const Launch& launch) {
  if (p.element == Element::kFloat16)
    return p.causal ? launch.template operator()<__half, true>() : launch.template operator()<__half, false>();
  return p.causal ? launch.template operator()<__nv_bfloat16, true>()
                  : launch.template operator()<__nv_bfloat16, false>();
}
template <int kD, int kRows, bool kEarlyFinish = false, bool kSplitQ = false>
std::string launch_hopper_backward(const Backward& call, Stream stream) {
  return by_element_and_mask(call.problem, [&]<class T, bool kCausal>() {
    return launch_hopper_backward<HopperBackwardTiles<T, kD, kRows, kCausal, kEarlyFinish, kSplitQ>>(call, stream);
  });
}
template <int kD, int kOStages, bool kSplitQ = false>
std::string launch_hopper_backward_d256(const Backward& call, Stream stream) {
  return by_element_and_mask(call.problem, [&]<class T, bool kCausal>() {
    return launch_hopper_backward<HopperBackwardTiles256<T, kD, kCausal, kOStages, kSplitQ>>(call, stream);
  });
}

}  // namespace kymo::flash

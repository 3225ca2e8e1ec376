// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for short sequences, in one kernel without a workspace. Such a call has few blocks, and with
// several kernels most of the time would pass at their ends and until sums in global memory are visible. Therefore,
// nothing is exchanged: S and dP are computed twice, by two kinds of thread blocks, which run at the same time.
//
//   key block    dK and dV of 128 keys, like a thread block of hopper_backward.cuh but without dQ
//   query block  dQ of 128 queries (hopper_backward_short_queries.cuh)
//
// Each computes lse and delta of its query rows itself, while its first tiles are loaded. Where blocks outnumber SMs, a
// thread block may be both in turn (hopper_backward_pairs.cuh).
#pragma once
#include "hopper_backward_kernel.cuh"
#include "hopper_backward_pairs.cuh"

namespace kymo::flash {

/// Computes a number here instead of at its use.
__device__ __forceinline__ void keep_number(int64_t& number) { asm volatile("" : "+l"(number)); }

/// Computes lse (times log2(e)) and delta of the query tiles of a key block, in the order in which these are processed,
/// by its consumers: 256 rows at a time, whose loads are all in flight before the first sum.
template <class Tiles>
class RowSummer {
 public:
  /// Reads nothing that the previous kernel writes. group: query heads of the key/value head.
  __device__ __forceinline__ RowSummer(const Backward& tensors, const KeyBlock& block, int group)
      : tensors_(tensors),
        block_(block),
        group_(group),
        o_step_(kRowStep * tensors.o.row_stride),
        d_o_step_(kRowStep * tensors.d_o.row_stride) {
    keep_number(o_step_), keep_number(d_o_step_);
    find_rows();
  }
  __device__ __forceinline__ void load() {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < kInTile; ++i) {
        o_[t][i] = d_o_[t][i] = {};
        lse_[t][i] = -INFINITY;
        if (i * kRowStep >= rows_[t].left) continue;
        o_[t][i] = *reinterpret_cast<const uint4*>(rows_[t].o + i * o_step_);
        d_o_[t][i] = *reinterpret_cast<const uint4*>(rows_[t].d_o + i * d_o_step_);
        lse_[t][i] = rows_[t].lse[i * kRowStep];
      }
  }
  /// Stores the sums of what is loaded, and of all other tiles, to shared memory.
  __device__ __forceinline__ void finish(uint32_t shared) {
    store(shared);
#pragma unroll 1
    for (first_ += kTiles; first_ < block_.tiles(); first_ += kTiles) find_rows(), load(), store(shared);
    named_sync(5, 256);
  }

 private:
  using T = typename Tiles::T;
  static constexpr int kLanes = Tiles::kD / 8, kRowStep = 256 / kLanes, kInTile = Tiles::kRows / kRowStep,
                       kTiles = 256 / Tiles::kRows;

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  static __device__ __forceinline__ int row_in_step() { return (static_cast<int>(threadIdx.x) - 128) / kLanes; }
  __device__ __forceinline__ void find_rows() {
    const int in_head = block_.end_tile() - block_.first_tile();
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const int number = first_ + t, of_group = group_ == 1 ? 0 : number / in_head;
      const int tile = block_.first_tile() + number - of_group * in_head;
      rows_[t].find(tensors_, block_.batch(), block_.head_kv() * group_ + of_group, tile * Tiles::kRows + row_in_step(),
                    lane() * 8);
      if (number >= block_.tiles() || lane() * 8 >= tensors_.problem.d) rows_[t].left = 0;
    }
  }
  __device__ __forceinline__ void store(uint32_t shared) const {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int i = 0; i < kInTile; ++i) {
        const float delta = sum_over_lanes<kLanes>(add_products<T>(o_[t][i], d_o_[t][i], 0.f));
        if (lane() > 0 || first_ + t >= block_.tiles()) continue;
        const uint32_t at = shared + ((first_ + t) * Tiles::kRows + i * kRowStep + row_in_step()) * 4;
        const RowSum used = row_sum<T>(lse_[t][i], delta);
        store_number(at + Tiles::kLse, used.lse);
        store_number(at + Tiles::kDelta, used.delta);
      }
  }

  const Backward& tensors_;
  const KeyBlock& block_;
  const int group_;
  int64_t o_step_, d_o_step_;
  int first_ = 0;  // tile of the key block
  RowAddress<T> rows_[kTiles];
  uint4 o_[kTiles][kInTile], d_o_[kTiles][kInTile];
  float lse_[kTiles][kInTile];
};

/// kPaired: followed by the query block of the same position.
template <class Tiles, bool kPaired = false>
__device__ __forceinline__ void process_key_block(const HopperBackwardCall& call, const Backward& tensors,
                                                  int warpgroup, uint32_t shared) {
  const BackwardBarriers<Tiles> barriers(shared + Tiles::kBarriers);
  KeyBlock block = key_block<Tiles>(call, blockIdx.x);
  block.words[KeyBlock::kTilesBefore] = 0;
  if (threadIdx.x == 0) {
    barriers.init();
    barriers.publish_block(0, block);
    barriers.publish_block(1, {});  // no other one
  }
  __syncthreads();
  launch_dependents();
  if (warpgroup == 0) {
    release_registers<24>();
    wait_for_prerequisites();
    if (threadIdx.x == 0) {
      load_blocks<Tiles>(call, shared, barriers);
      if constexpr (kPaired) load_other_keys<Tiles>(call, shared, barriers);
    }
  } else {
    acquire_registers<240>();
    RowSummer<Tiles> sums(tensors, block, call.group);
    wait_for_prerequisites();
    sums.load();
    consume<Tiles>(
        call, warpgroup - 1, shared, barriers, [&] { sums.finish(shared); },
        [&] {
          if constexpr (kPaired) consume_query_block<Tiles>(call, tensors, warpgroup - 1, shared, barriers);
        });
  }
}

/// The start of a tile buffer that TMA and wgmma can use.
__device__ __forceinline__ uint32_t align_tiles(const uint8_t* raw) { return (shared_address(raw) + 1023) & ~1023u; }

template <class Tiles>
__global__ void __launch_bounds__(384, 1)
    hopper_backward_short(const __grid_constant__ HopperBackwardCall call, const __grid_constant__ Backward tensors) {
  extern __shared__ __align__(1024) uint8_t raw[];
  const uint32_t shared = align_tiles(raw);
  const int warpgroup = __shfl_sync(kWholeWarp, threadIdx.x / 128, 0);
  if (threadIdx.x < 6) prefetch_map(&call.q + threadIdx.x);
  const int queries = static_cast<int>(blockIdx.x) - call.blocks;
  if (queries < 0)
    process_key_block<Tiles>(call, tensors, warpgroup, shared);
  else
    process_query_block<Tiles>(call, tensors, queries, warpgroup, shared);
}

/// A key block and a query block in each thread block.
template <class Tiles>
__global__ void __launch_bounds__(384, 1)
    hopper_backward_pairs(const __grid_constant__ HopperBackwardCall call, const __grid_constant__ Backward tensors) {
  extern __shared__ __align__(1024) uint8_t raw[];
  const int warpgroup = __shfl_sync(kWholeWarp, threadIdx.x / 128, 0);
  if (threadIdx.x < 6) prefetch_map(&call.q + threadIdx.x);
  process_key_block<Tiles, true>(call, tensors, warpgroup, align_tiles(raw));
}

template <class Tiles, bool kPaired>
std::string launch_hopper_backward_short(const Backward& call, Stream stream) {
  static_assert(short_tile(Tiles::kD).rows == Tiles::kRows && ShortTile::keys == Tiles::kKeys);
  HopperBackwardCall device{};
  if (std::string message = describe_tensors<Tiles>(call, device); !message.empty()) return message;
  const Problem& p = call.problem;
  device.blocks = static_cast<int>(key_blocks(p, Tiles::kKeys));
  const int64_t blocks = device.blocks + (kPaired ? 0 : query_blocks(p, ShortTile::queries));
  const LaunchShape shape{blocks, 384, Tiles::kShared, stream, true};
  if constexpr (kPaired)
    return failure("hopper_backward_pairs", queue(hopper_backward_pairs<Tiles>, shape, device, call));
  return failure("hopper_backward_short", queue(hopper_backward_short<Tiles>, shape, device, call));
}

}  // namespace kymo::flash

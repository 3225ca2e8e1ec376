// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for short sequences, in one kernel without a workspace. Such a call has few blocks, and with
// several kernels most of the time would pass at their ends and until sums in global memory are visible. Therefore,
// nothing is exchanged: S and dP are computed twice, by two kinds of thread blocks, which run at the same time.
//
//   key block    dK and dV of 128 keys, like a thread block of hopper_backward.cuh but without dQ
//   query block  dQ of 128 queries (hopper_backward_short_queries.cuh)
//
// Each computes lse and delta of its query rows itself, while its first tiles are loaded.
//
// If there are more blocks than SMs, up to d 64 and with at most two tiles of keys and of queries, a thread block is
// both in turn, for the keys and queries of the same positions: all tiles but one of K and V are then in shared memory
// for the query block already.
#pragma once
#include "hopper_backward_kernel.cuh"
#include "hopper_backward_short_queries.cuh"

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

/// The tiles of a query block in the thread block that has processed the key block of the same position: Q and dO, as
/// well as K and V, are where that has left them. The other K and V are in what dS of the second buffer would take.
template <class Tiles>
struct PairShared {
  static constexpr int kOtherKeys = Tiles::kDs + Tiles::kDsBytes;
  static_assert(Tiles::kKeyBytes * 2 <= Tiles::kDsBytes);
  uint32_t at, other_full;
  int index, tile;  // of the block, and of its queries among the tiles of the key block

  __device__ __forceinline__ PairShared(uint32_t shared, const BackwardBarriers<Tiles>& barriers, int index, int tile)
      : at(shared), other_full(barriers.dq_empty), index(index), tile(tile) {}  // dQ needs no barriers here
  __device__ __forceinline__ uint32_t q() const { return at + Tiles::kQ + tile * Tiles::kQBytes; }
  __device__ __forceinline__ uint32_t d_o() const { return at + Tiles::kO + tile * Tiles::kQBytes; }
  __device__ __forceinline__ int key_tile(int number) const { return number ? index ^ 1 : index; }
  __device__ __forceinline__ uint32_t k(int number) const { return at + (number ? kOtherKeys : 0); }
  __device__ __forceinline__ uint32_t v(int number) const { return k(number) + Tiles::kKeyBytes; }
  __device__ __forceinline__ void wait_q() const {}
  __device__ __forceinline__ void wait_d_o() const {}
  __device__ __forceinline__ void wait_k(int number) const {
    if (number) barrier_wait(other_full, 0);
  }
  __device__ __forceinline__ void wait_v(int) const {}
  __device__ __forceinline__ void release(int) const {}
  /// lse and delta of a row of the block.
  __device__ __forceinline__ RowSum sums(int row) const {
    const uint32_t from = at + (tile * Tiles::kRows + row) * 4;
    return {__uint_as_float(load_word(from + Tiles::kLse)), __uint_as_float(load_word(from + Tiles::kDelta))};
  }
};

/// The block of the queries at the positions of a key block's keys; each head has as many queries as keys.
template <class Tiles>
__device__ __forceinline__ QueryBlock queries_of_keys(const HopperBackwardCall& call, const SharedKeyBlock& block) {
  return {block.batch(), block.head_kv(), block.head_kv(), first_key<Tiles>(block),
          Tiles::kCausal ? block.index() + 1 : call.key_blocks};
}
template <class Tiles>
__device__ __forceinline__ PairShared<Tiles> tiles_of_pair(uint32_t shared, const BackwardBarriers<Tiles>& barriers,
                                                           const SharedKeyBlock& block) {
  return {shared, barriers, block.index(), block.index() - block.first_tile()};
}

/// The TMA thread, after the tiles of the key block.
template <class Tiles>
__device__ __forceinline__ void load_other_keys(const HopperBackwardCall& call, uint32_t shared,
                                                const BackwardBarriers<Tiles>& barriers) {
  const SharedKeyBlock block{{barriers.blocks}};
  if (queries_of_keys<Tiles>(call, block).key_tiles == 1) return;
  const PairShared<Tiles> tiles = tiles_of_pair<Tiles>(shared, barriers, block);
  const Corner from{0, tiles.key_tile(1) * Tiles::kKeys, block.head_kv(), block.batch()};
  barrier_expect(tiles.other_full, 2 * Tiles::kKeyBytes);
  load_box(tiles.k(1), &call.k, tiles.other_full, from);
  load_box(tiles.v(1), &call.v, tiles.other_full, from);
}

template <class Tiles>
__device__ __forceinline__ void consume_other_half(const HopperBackwardCall& call, const Backward& tensors,
                                                   int consumer, uint32_t shared,
                                                   const BackwardBarriers<Tiles>& barriers) {
  const SharedKeyBlock block{{barriers.blocks}};
  const PairShared<Tiles> tiles = tiles_of_pair<Tiles>(shared, barriers, block);
  const int row = row_of_block(consumer);
  const RowSum rows[2] = {tiles.sums(row), tiles.sums(row + 8)};
  consume_keys<Tiles>(call, tensors, queries_of_keys<Tiles>(call, block), consumer, rows, tiles);
}

/// kPaired: and the query block of the same position.
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
          if constexpr (kPaired) consume_other_half<Tiles>(call, tensors, warpgroup - 1, shared, barriers);
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
  if (std::string wrong = describe_tensors<Tiles>(call, device); !wrong.empty()) return wrong;
  const Problem& p = call.problem;
  device.blocks = static_cast<int>(key_blocks(p, Tiles::kKeys));
  const int64_t blocks = device.blocks + (kPaired ? 0 : query_blocks(p, ShortTile::queries));
  const LaunchShape shape{blocks, 384, Tiles::kShared, stream, true};
  if constexpr (kPaired)
    return failure("hopper_backward_pairs", queue(hopper_backward_pairs<Tiles>, shape, device, call));
  return failure("hopper_backward_short", queue(hopper_backward_short<Tiles>, shape, device, call));
}

}  // namespace kymo::flash

// SPDX-License-Identifier: Apache-2.0
// The second half of a thread block that computes dK and dV of 128 keys and then dQ of the queries at the same
// positions (see hopper_backward_short.cuh), up to d 64 and with at most two tiles of keys and of queries. All that it
// reads is in shared memory by then: the tiles of the key block, lse and delta, and the other tile of K and V, which is
// loaded while the key block is processed.
#pragma once
#include "hopper_backward_short_queries.cuh"

namespace kymo::flash {

/// The tiles of a query block in the thread block that has processed the key block of the same position: Q and dO, as
/// well as K and V, are where that has left them. The other K and V are in what dS of the second buffer would take.
template <class Tiles>
struct PairShared {
  static constexpr int kOtherKeys = Tiles::kDs + Tiles::kDsBytes;
  static_assert(Tiles::kKeyBytes * 2 <= Tiles::kDsBytes && Tiles::kRows == kQueriesOfBlock);
  static_assert(Tiles::kQStages >= 2 && Tiles::kOStages >= 2);  // no tile of the key block replaces another one
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
__device__ __forceinline__ void consume_query_block(const HopperBackwardCall& call, const Backward& tensors,
                                                    int consumer, uint32_t shared,
                                                    const BackwardBarriers<Tiles>& barriers) {
  const SharedKeyBlock block{{barriers.blocks}};
  const PairShared<Tiles> tiles = tiles_of_pair<Tiles>(shared, barriers, block);
  const int row = row_of_block(consumer);
  const RowSum rows[2] = {tiles.sums(row), tiles.sums(row + 8)};
  consume_keys<Tiles>(call, tensors, queries_of_keys<Tiles>(call, block), consumer, rows, tiles);
}

}  // namespace kymo::flash

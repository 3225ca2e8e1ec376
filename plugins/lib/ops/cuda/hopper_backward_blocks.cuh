// SPDX-License-Identifier: Apache-2.0
// The arguments of the Hopper backward kernel, and the order of its key blocks and of the query tiles of each.
#pragma once
#include <cuda.h>

#include "backward_ends.cuh"
#include "ptx.cuh"

namespace kymo::flash {

struct HopperBackwardCall {
  CUtensorMap q, d_o, k, v, dk, dv;
  const float *lse_log2, *delta;  // (batch * heads_q, padded), see RowSums
  const RowTerms* terms;          // the same; for consumers in lockstep, instead of both
  float* dq;                      // (batch * heads_q, query tiles, kRows * kD) in fragment order
  int* order;                     // deterministic: semaphores of (batch * heads_q, query tiles, consumer); or null
  int seq_k, shift;               // shift = seq_k - seq_q: query i sees keys up to i + shift
  int interleaved;                // heads, see key_block()
  int heads_q, heads_kv, group, query_tiles, key_blocks, padded;
  float scale, scale_log2;
  int blocks;                // key blocks of all heads, or splits of them
  int* next_block;           // number of the key blocks that were taken; without `order`, beyond the first of each
                             // thread block
  int* counters;             // early finish: completed additions to dQ of each (batch, key/value head), two per block
  int split_tiles;           // kSplitQ: query tiles of a key block
  int head_splits;           // key blocks that share the query heads of the group; 1 without kSplitQ
  int block_heads;           // query heads of a key block
  float *dk_sums, *dv_sums;  // kSplitQ: (batch * heads_kv, key_blocks * kKeys, kD)
};

/// Position of a key block, and its range of query tiles.
template <class Words>
struct BlockOf {
  static constexpr int kTilesBefore = 7;
  Words words;

  __device__ __forceinline__ int index() const { return words[0]; }
  __device__ __forceinline__ int head_kv() const { return words[1]; }
  __device__ __forceinline__ int batch() const { return words[2]; }
  /// Query tiles of all query heads of the block; 0 if no query sees its keys, and after the last key block.
  __device__ __forceinline__ int tiles() const { return words[3]; }
  /// Query tiles of each head.
  __device__ __forceinline__ int first_tile() const { return words[4]; }
  __device__ __forceinline__ int end_tile() const { return words[5]; }
  /// Query head within the group; a block has call.block_heads of them.
  __device__ __forceinline__ int first_head() const { return words[6]; }
  /// Number of tiles of the key blocks that this thread block has processed before.
  __device__ __forceinline__ int tiles_before() const { return words[kTilesBefore]; }
};
constexpr int kBlockWords = 8;
struct Registers {
  int at[kBlockWords];
  __device__ __forceinline__ int operator[](int i) const { return at[i]; }
  __device__ __forceinline__ int& operator[](int i) { return at[i]; }
};
struct SharedWords {
  uint32_t at;
  __device__ __forceinline__ int operator[](int i) const { return static_cast<int>(load_word(at + 4 * i)); }
};
using KeyBlock = BlockOf<Registers>;
/// In shared memory: a field takes no register until it is used.
using SharedKeyBlock = BlockOf<SharedWords>;

/// Without split-Q, the end of the query tiles and the first query head are the same for all blocks.
template <class Tiles, class Block>
__device__ __forceinline__ int end_tile(const HopperBackwardCall& call, const Block& block) {
  return Tiles::kSplitQ ? block.end_tile() : call.query_tiles;
}
template <class Tiles, class Block>
__device__ __forceinline__ int first_head(const Block& block) {
  return Tiles::kSplitQ ? block.first_head() : 0;
}
template <class Tiles, class Block>
__device__ __forceinline__ int first_key(const Block& block) {
  return block.index() * Tiles::kKeys;
}
template <class Tiles>
__device__ __forceinline__ KeyBlock key_block(const HopperBackwardCall& call, int number) {
  // Heads are processed one after another, so that the data of the current heads (Q, dO, fp32 dQ) stays in L2. With a
  // causal mask, block 0 of a head is its longest. The last `interleaved` heads are processed together, the longest
  // blocks of all of them first, so that the last blocks to run are short. The last head comes first, because the
  // previous kernel touched its data last. Likewise, the next kernel starts with the first head, whose data this kernel
  // touches last.
  const int splits = Tiles::kSplitQ ? (call.query_tiles + call.split_tiles - 1) / call.split_tiles : 1,
            split = Tiles::kSplitQ ? number % splits : 0;
  // With split query heads, `head` counts these.
  const int of_head = number / splits, heads = call.blocks / (splits * call.key_blocks);
  const int head_splits = Tiles::kSplitQ ? call.head_splits : 1;
  int index = of_head % call.key_blocks, head = heads - 1 - of_head / call.key_blocks;
  if (Tiles::kCausal && head < call.interleaved) {
    const int of_interleaved = of_head - (heads - call.interleaved) * call.key_blocks;
    index = of_interleaved / call.interleaved, head = call.interleaved - 1 - of_interleaved % call.interleaved;
  }
  const int seen = Tiles::kCausal ? max(0, index * Tiles::kKeys - call.shift) / Tiles::kRows : 0;
  const int first = Tiles::kSplitQ ? max(seen, split * call.split_tiles) : seen;
  const int end = Tiles::kSplitQ ? min(call.query_tiles, (split + 1) * call.split_tiles) : call.query_tiles;
  const int head_kv = head / head_splits;
  return {{index, head_kv % call.heads_kv, head_kv / call.heads_kv, max(0, end - first) * call.block_heads, first, end,
           head % head_splits * call.block_heads, 0}};
}

/// The query tiles of a block, in the order in which all of its threads process them. With several query heads per
/// key/value head: tile by tile from the last one on, in each tile head by head. Blocks of the same keys' head that
/// start together then share Q, dO and dQ in L2, wherever their diagonals are. Consumers in lockstep with a causal
/// mask: the same. Otherwise, in deterministic mode and in blocks of short sequences: the tiles of a head from the
/// first one on, which with a causal mask differs between blocks, so that they add to different tiles of dQ at a time,
/// and reach each tile in the order in which they must add to it.
template <class Tiles>
struct TileWalk {
  int tile, head;  // head: within the group
  template <class Block>
  __device__ __forceinline__ TileWalk(const HopperBackwardCall& call, const Block& block)
      : tile(by_head(call) ? block.first_tile() : end_tile<Tiles>(call, block) - 1), head(first_head<Tiles>(block)) {}
  __device__ __forceinline__ static bool by_head(const HopperBackwardCall& call) {
    return call.order || Tiles::kShort || (call.block_heads == 1 && !(Tiles::kLockstep && Tiles::kCausal));
  }
  template <class Block>
  __device__ __forceinline__ void next(const HopperBackwardCall& call, const Block& block) {
    if (by_head(call)) {
      if (++tile == end_tile<Tiles>(call, block)) tile = block.first_tile(), ++head;
    } else if (++head == first_head<Tiles>(block) + call.block_heads) {
      head = first_head<Tiles>(block), --tile;
    }
  }
  /// Query head of all batch elements. The rows of all of them are fewer than 2^31.
  template <class Block>
  __device__ __forceinline__ int head_of_all(const HopperBackwardCall& call, const Block& block) const {
    return block.batch() * call.heads_q + block.head_kv() * call.group + head;
  }
};

/// Takes the next key block that has query tiles; returns one without tiles if there is none. Thread blocks take key
/// blocks as they get to them, so that one with short key blocks processes more of them. If there are as many thread
/// blocks as key blocks, each takes one. Only one thread of a thread block calls this.
template <class Tiles>
__device__ __forceinline__ KeyBlock take_key_block(const HopperBackwardCall& call, bool first) {
  while (true) {
    int number = blockIdx.x;
    if (!first && static_cast<int>(gridDim.x) == call.blocks) return {};
    if (!first || call.order) {
      wait_for_prerequisites();  // the previous kernel zeroes the counter
      number = atomicAdd(call.next_block, 1) + (call.order ? 0 : static_cast<int>(gridDim.x));
    }
    if (number >= call.blocks) return {};  // without tiles
    const KeyBlock block = key_block<Tiles>(call, number);
    if (!Tiles::kSplitQ || block.tiles() > 0) return block;  // no query of an empty split sees its keys
    first = false;
  }
}

}  // namespace kymo::flash
